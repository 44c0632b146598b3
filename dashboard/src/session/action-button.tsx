import type { ReactNode } from "react";
import { lostReason } from "../shell/connection-view.tsx";
import { useScene } from "./context.ts";

interface Props {
  readonly children: ReactNode;
  readonly onClick: () => void;
  readonly className?: string;
  /** Why it cannot be pressed now; it stays in reach so that the reason can be read. */
  readonly blocked?: string | undefined;
}

/** Everything that changes a session: impossible while the page does not know how things are. */
export function ActionButton({ children, onClick, className = "button", blocked }: Props) {
  const { stale, pending } = useScene();
  const busy = pending.kind === "sending" || pending.kind === "waiting";
  const reason = stale ? lostReason : busy ? "The last word is not heard yet." : blocked;
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
