import { useNow } from "../live/use-now.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { useScene } from "./context.ts";
import { pendingText } from "./pending.ts";

/** What was said and is not heard yet, or why it failed. */
export function PendingLine() {
  const { pending } = useScene();
  const now = useNow();
  if (pending.kind === "failed")
    return (
      <div className="page-part pending-error">
        <ErrorNotice what={pending.what} error={pending.error} />
      </div>
    );
  const text = pendingText(pending, now);
  if (text === undefined) return null;
  return <p className="pending-line">{text}</p>;
}
