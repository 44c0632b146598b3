import type { ReactNode } from "react";
import { useScene } from "../session/context.ts";
import { lostReason } from "../shell/connection-view.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";

interface Props {
  readonly title: string;
  readonly button: string;
  readonly label: string;
  readonly failed: string;
  /** What the other button says. */
  readonly leave?: string;
  /** Whether something is missing; whoever knows says so beside it. */
  readonly isIncomplete?: () => boolean;
  readonly call: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** One word to a session, with what it means beside it. It stays open when the word was refused. */
export function WordPanel({ title, button, label, failed, call, onClose, children, ...more }: Props) {
  const { leave = "Keep it as it is", isIncomplete = () => false } = more;
  const { stale, speak, pending } = useScene();
  const blocked = stale || pending.kind === "sending";
  const say = async () => {
    if (isIncomplete()) return;
    if (await speak(label, failed, call)) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="form word-panel">
        {children}
        {pending.kind === "failed" ? <ErrorNotice what={pending.what} error={pending.error} /> : null}
        <div className="dialog-actions">
          <button
            type="button"
            className="button primary"
            aria-disabled={blocked}
            title={stale ? lostReason : undefined}
            onClick={blocked ? undefined : () => void say()}
          >
            {pending.kind === "sending" ? label : button}
          </button>
          <button type="button" className="button" onClick={onClose}>
            {leave}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
