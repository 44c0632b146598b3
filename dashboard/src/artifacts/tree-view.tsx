import { type KeyboardEvent, useMemo, useRef, useState } from "react";
import { oneLine } from "../format/plain-text.ts";
import { Icon } from "../ui/icons.tsx";
import { Placed } from "../ui/placed.tsx";
import { treeLines } from "./file-tree.ts";

interface File {
  readonly path: string;
  /** Set in a comparison. */
  readonly kind?: "added" | "removed" | "changed";
}

interface Props {
  readonly files: readonly File[];
  readonly selected: string | undefined;
  readonly onSelect: (path: string) => void;
}

/** The ARIA tree pattern: one tab stop, arrow keys move, left and right fold. */
export function FileTree({ files, selected, onSelect }: Props) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [focused, setFocused] = useState<string>();
  const root = useRef<HTMLDivElement>(null);
  const lines = useMemo(() => treeLines(files, closed), [files, closed]);
  const current = lines.some(({ path }) => path === (focused ?? selected))
    ? (focused ?? selected)
    : lines[0]?.path;
  const index = lines.findIndex(({ path }) => path === current);
  const toggle = (path: string, open: boolean) =>
    setClosed((known) => {
      const next = new Set(known);
      if (open) next.delete(path);
      else next.add(path);
      return next;
    });
  const moveTo = (to: number) => {
    const line = lines[to];
    if (line === undefined) return;
    setFocused(line.path);
    root.current?.querySelectorAll<HTMLElement>('[role="treeitem"]')[to]?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const line = lines[index];
    if (line === undefined) return;
    if (event.key === "ArrowDown") moveTo(index + 1);
    else if (event.key === "ArrowUp") moveTo(index - 1);
    else if (event.key === "Home") moveTo(0);
    else if (event.key === "End") moveTo(lines.length - 1);
    else if (event.key === "ArrowRight" && line.file === undefined) toggle(line.path, true);
    else if (event.key === "ArrowLeft" && line.file === undefined && !closed.has(line.path))
      toggle(line.path, false);
    else if (event.key === "ArrowLeft")
      moveTo(lines.slice(0, index).findLastIndex(({ depth }) => depth < line.depth));
    else if (event.key === "Enter" || event.key === " ") act(line.path, line.file !== undefined);
    else return;
    event.preventDefault();
  };
  const act = (path: string, isFile: boolean) => {
    setFocused(path);
    if (isFile) onSelect(path);
    else toggle(path, closed.has(path));
  };
  return (
    <div className="tree" role="tree" tabIndex={-1} aria-label="Files" ref={root} onKeyDown={onKeyDown}>
      {lines.map(({ path, name, depth, file }) => (
        // oxlint-disable-next-line click-events-have-key-events -- the tree has the keys
        <div
          key={path}
          role="treeitem"
          tabIndex={path === current ? 0 : -1}
          aria-level={depth + 1}
          aria-selected={path === selected}
          aria-expanded={file === undefined ? !closed.has(path) : undefined}
          className="tree-line"
          title={oneLine(path)}
          onClick={() => act(path, file !== undefined)}
        >
          <Placed at={{ width: depth * 14 }} className="tree-indent" />
          <Icon name={file === undefined ? (closed.has(path) ? "right" : "down") : "file"} size={13} />
          <span className="one-line outside">{oneLine(name)}</span>
          {file?.kind === undefined ? null : <span className={`change-word ${file.kind}`}>{file.kind}</span>}
        </div>
      ))}
    </div>
  );
}
