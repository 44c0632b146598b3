import type { KeyboardEvent } from "react";

interface Tab<Id extends string> {
  readonly id: Id;
  readonly name: string;
  readonly count?: number;
}

interface Props<Id extends string> {
  readonly label: string;
  readonly tabs: readonly Tab<Id>[];
  readonly current: Id;
  readonly onTab: (id: Id) => void;
}

/** One tab stop. Arrow keys select. */
export function TabList<Id extends string>({ label, tabs, current, onTab }: Props<Id>) {
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const now = tabs.findIndex(({ id }) => id === current);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (now + step + tabs.length) % tabs.length;
    const target = tabs[next];
    if (target === undefined) return;
    onTab(target.id);
    event.currentTarget.querySelectorAll<HTMLElement>('[role="tab"]')[next]?.focus();
  };
  return (
    <div className="tabs" role="tablist" tabIndex={-1} aria-label={label} onKeyDown={onKeyDown}>
      {tabs.map(({ id, name, count }) => (
        <button
          key={id}
          type="button"
          role="tab"
          aria-selected={id === current}
          tabIndex={id === current ? 0 : -1}
          onClick={() => onTab(id)}
        >
          {name}
          {count === undefined ? null : <span className="count">{count}</span>}
        </button>
      ))}
    </div>
  );
}
