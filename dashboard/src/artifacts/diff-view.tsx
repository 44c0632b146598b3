import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import { counted } from "../format/count.ts";
import { Placed } from "../ui/placed.tsx";
import { LineText } from "./code-lines.tsx";
import type { ComparedLine } from "./diff-lines.ts";
import { type Folded, foldEqual } from "./fold.ts";
import type { Token } from "./highlight.ts";
import { highlightText, useDiff } from "./text-work.ts";

interface Props {
  readonly before: string;
  readonly after: string;
  readonly path: string;
  /** As high as its content, for panels that scroll themselves. */
  readonly short?: boolean;
  readonly pointing?: Pointing | undefined;
}

type Side = "before" | "after";

/** Lines that accept comments. */
export interface Pointing {
  readonly marked: readonly { readonly line: number; readonly side: Side }[];
  readonly onPoint: (place: { readonly line: number; readonly side: Side }) => void;
}

export default function DiffView({ before, after, path, short = false, pointing }: Props) {
  const { lines, error } = useDiff(before, after);
  if (error !== undefined) return <p className="page-part ink-2">{error}</p>;
  if (lines === undefined) return <div className="diff-waiting" aria-busy="true" />;
  if (lines.every(({ sign }) => sign === " ")) return <p className="page-part ink-2">No line differs.</p>;
  return short ? (
    <ShortDiff lines={lines} path={path} />
  ) : (
    <LongDiff lines={lines} path={path} pointing={pointing} />
  );
}

function useFolded(lines: readonly ComparedLine[], path: string, around: number) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const [tokens, setTokens] = useState<readonly (readonly Token[])[]>();
  const folded = useMemo(() => foldEqual(lines, opened, around), [lines, opened, around]);
  useEffect(() => {
    let current = true;
    void highlightText(
      lines.map(({ text }) => text),
      path,
    ).then((answer) => {
      if (current) setTokens(answer);
    });
    return () => {
      current = false;
    };
  }, [lines, path]);
  return { folded, tokens, open: (from: number) => setOpened((known) => new Set(known).add(from)) };
}

const mostShortLines = 60;

function ShortDiff({ lines, path }: { readonly lines: readonly ComparedLine[]; readonly path: string }) {
  const { folded: all, tokens, open } = useFolded(lines, path, 1);
  // Equal lines at both ends need no fold.
  const folded = all.filter((item, index) => item.kind === "line" || (index > 0 && index < all.length - 1));
  const shown = folded.slice(0, mostShortLines);
  return (
    <div className="code-scroll short-diff" role="region" aria-label={`Changes of ${path}`} tabIndex={0}>
      {shown.map((item) => (
        <DiffItem
          key={item.kind === "fold" ? `f${item.from}` : item.index}
          item={item}
          tokens={tokens}
          onOpen={open}
        />
      ))}
      {folded.length > shown.length ? (
        <p className="ink-3 fold-line">{counted(folded.length - shown.length, "more line")}</p>
      ) : null}
    </div>
  );
}

interface LongProps {
  readonly lines: readonly ComparedLine[];
  readonly path: string;
  readonly pointing: Pointing | undefined;
}

function LongDiff({ lines, path, pointing }: LongProps) {
  const scroll = useRef<HTMLDivElement>(null);
  const { folded, tokens, open } = useFolded(lines, path, 3);
  const virtualizer = useVirtualizer({
    count: folded.length,
    getScrollElement: () => scroll.current,
    estimateSize: (index) => (folded[index]?.kind === "fold" ? 26 : 18),
    overscan: 20,
    paddingStart: 6,
    paddingEnd: 12,
  });
  const longest = lines.reduce((most, { text }) => Math.max(most, Math.min(text.length, 5000)), 0);
  return (
    <div className="code-scroll" ref={scroll} role="region" aria-label={`Changes of ${path}`} tabIndex={0}>
      <Placed
        at={{ height: virtualizer.getTotalSize(), width: `max(100%, ${longest + 16}ch)` }}
        className="code-body"
      >
        {virtualizer.getVirtualItems().map(({ index, start, key }) => {
          const item = folded[index];
          return item === undefined ? null : (
            <Placed key={key} at={{ transform: `translateY(${start}px)` }} className="code-line">
              <DiffItem item={item} tokens={tokens} onOpen={open} pointing={pointing} />
            </Placed>
          );
        })}
      </Placed>
    </div>
  );
}

interface ItemProps {
  readonly item: Folded;
  readonly tokens: readonly (readonly Token[])[] | undefined;
  readonly onOpen: (from: number) => void;
  readonly pointing?: Pointing | undefined;
}

function DiffItem({ item, tokens, onOpen, pointing }: ItemProps) {
  if (item.kind === "fold")
    return (
      <button type="button" className="fold-line" onClick={() => onOpen(item.from)}>
        {counted(item.to - item.from, "equal line")}
      </button>
    );
  const { sign, before, after, text } = item.line;
  const kind = sign === "+" ? "added" : sign === "-" ? "removed" : "";
  return (
    <div className={`diff-line ${kind}`}>
      <LineNumber before={before} after={after} pointing={pointing} />
      <span className="line-sign">
        {sign === " " ? "" : sign}
        {sign === " " ? null : <span className="unseen">{sign === "+" ? "added" : "removed"}</span>}
      </span>
      <LineText text={text} tokens={tokens?.[item.index]} />
    </div>
  );
}

interface NumberProps extends Pick<ComparedLine, "before" | "after"> {
  readonly pointing: Pointing | undefined;
}

/**
 * With `pointing`, a button for the pointer. From the keyboard, the number goes into the form beside the
 * difference.
 */
function LineNumber({ before, after, pointing }: NumberProps) {
  const line = after ?? before ?? 0;
  if (pointing === undefined) return <span className="line-number">{line}</span>;
  const side: Side = after === null ? "before" : "after";
  const isMarked = pointing.marked.some((each) => each.line === line && each.side === side);
  return (
    <button
      type="button"
      tabIndex={-1}
      className={`line-number line-button${isMarked ? " marked" : ""}`}
      aria-label={`${isMarked ? "Has a comment. " : ""}Comment on line ${line}${side === "before" ? ", removed" : ""}`}
      onClick={() => pointing.onPoint({ line, side })}
    >
      {line}
    </button>
  );
}
