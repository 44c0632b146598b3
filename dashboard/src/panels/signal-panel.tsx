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
  /** The label of the button that closes. */
  readonly leave?: string;
  /** Whether something is missing. The child that checks it shows the error. */
  readonly isIncomplete?: () => boolean;
  readonly call: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Confirms one signal to a session. It stays open when the server refuses the signal. */
export function SignalPanel({ title, button, label, failed, call, onClose, children, ...more }: Props) {
  const { leave = "Keep it as it is", isIncomplete = () => false } = more;
  const { stale, send, pending } = useScene();
  const blocked = stale || pending.kind === "sending";
  const say = async () => {
    if (isIncomplete()) return;
    if (await send(label, failed, call)) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="form signal-panel">
        {children}
        {pending.kind === "failed" ? <ErrorNotice what={pending.what} error={pending.error} /> : null}
        <div className="dialog-actions">
          <ConfirmButton blocked={blocked} act={say}>
            {pending.kind === "sending" ? label : button}
          </ConfirmButton>
          <button type="button" className="button" onClick={onClose}>
            {leave}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

interface ConfirmProps {
  readonly blocked: boolean;
  readonly act: () => Promise<void>;
  readonly children: ReactNode;
}

/** The button of a dialog that acts. It stays reachable by Tab while it is disabled. */
export function ConfirmButton({ blocked, act, children }: ConfirmProps) {
  const { stale } = useScene();
  return (
    <button
      type="button"
      className="button primary"
      aria-disabled={blocked}
      title={stale ? lostReason : undefined}
      onClick={blocked ? undefined : () => void act()}
    >
      {children}
    </button>
  );
}
