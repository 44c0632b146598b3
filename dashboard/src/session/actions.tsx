import type { ReactNode } from "react";
import { useNow } from "../live/clock.ts";
import { lostReason } from "../shell/connection-view.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { useScene } from "./context.ts";
import { pendingText } from "./pending.ts";

interface Props {
  readonly children: ReactNode;
  readonly onClick: () => void;
  readonly className?: string;
  /** Why it is disabled. The button stays reachable by Tab so that the reason can be read. */
  readonly blocked?: string | undefined;
}

/** A button that changes the session. It is disabled while the shown state may be outdated. */
export function ActionButton({ children, onClick, className = "button", blocked }: Props) {
  const { stale, pending } = useScene();
  const busy = pending.kind === "sending" || pending.kind === "waiting";
  const reason = stale ? lostReason : busy ? "The last action is not confirmed yet." : blocked;
  return (
    <button
      type="button"
      className={className}
      aria-disabled={reason !== undefined}
      title={reason}
      onClick={reason === undefined ? onClick : undefined}
    >
      {children}
      {reason === undefined ? null : <span className="unseen"> {reason}</span>}
    </button>
  );
}

/** The pending signal, or why it failed. */
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
