import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { Icon } from "./icons.tsx";

interface MenuItem {
  readonly name: string;
  readonly run: () => void;
  /** Shown as a button if there is room. */
  readonly phoneOnly?: boolean;
}

/** A menu of rarely used actions. */
export function Menu({
  label,
  items,
  bare = false,
}: {
  readonly label: string;
  readonly items: readonly MenuItem[];
  /** Without a border. */
  readonly bare?: boolean;
}) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    root.current?.querySelector<HTMLElement>('[role="menuitem"]:not([hidden])')?.focus();
    const leave = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener("pointerdown", leave);
    return () => removeEventListener("pointerdown", leave);
  }, [open]);
  const close = () => {
    setOpen(false);
    root.current?.querySelector("button")?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const entries = [...(root.current?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])].filter(
      (entry) => entry.offsetParent !== null,
    );
    const now = entries.indexOf(document.activeElement as HTMLElement);
    if (event.key === "Escape" || event.key === "Tab") close();
    else if (event.key === "ArrowDown") entries[(now + 1) % entries.length]?.focus();
    else if (event.key === "ArrowUp") entries[(now - 1 + entries.length) % entries.length]?.focus();
    else if (event.key === "Home") entries[0]?.focus();
    else if (event.key === "End") entries.at(-1)?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="menu-root" ref={root}>
      <button
        type="button"
        className={bare ? "button bare icon" : "button icon"}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        <Icon name="more" />
      </button>
      {open ? (
        <div id={id} role="menu" tabIndex={-1} aria-label={label} className="menu" onKeyDown={onKeyDown}>
          {items.map(({ name, run, phoneOnly = false }) => (
            <button
              key={name}
              type="button"
              role="menuitem"
              tabIndex={-1}
              className={phoneOnly ? "phone-item" : undefined}
              onClick={() => {
                close();
                run();
              }}
            >
              {name}
            </button>
          ))}
        </div>
      ) : null}
    </div>
  );
}
