import { type ReactNode, useEffect, useId, useRef } from "react";
import { Icon } from "./icons.tsx";

interface Props {
  readonly title: string;
  readonly kind?: "center" | "side";
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** The browser's own dialog: it traps the focus, restores it and closes with Escape. */
export function Dialog({ title, kind = "center", onClose, children }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (dialog === null || dialog.open) return;
    dialog.showModal();
    // Never on a button: a key press right after opening must not spend money.
    const first = dialog.querySelector<HTMLElement>("[data-first]") ?? dialog.querySelector("h2");
    first?.focus();
  }, []);
  return (
    // oxlint-disable-next-line click-events-have-key-events, no-noninteractive-element-interactions -- Escape does the same
    <dialog
      ref={ref}
      className={`dialog ${kind}`}
      aria-labelledby={titleId}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === ref.current) ref.current?.close();
      }}
    >
      <div className="dialog-body">
        <header className="dialog-head">
          <h2 id={titleId} tabIndex={-1}>
            {title}
          </h2>
          <button
            type="button"
            className="button bare icon"
            aria-label="Close"
            onClick={() => ref.current?.close()}
          >
            <Icon name="cross" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
