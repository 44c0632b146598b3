import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";
import { Placed } from "../ui/placed.tsx";
import type { Token } from "./highlight.ts";

const lineHeight = 18;
const mostCharacters = 5000;

/** Renders only the lines in view. Very long lines are cut and end with an ellipsis. */
export function CodeLines({
  lines,
  tokens,
  label,
}: {
  readonly lines: readonly string[];
  /** Missing until the worker has answered. */
  readonly tokens: readonly (readonly Token[])[] | undefined;
  readonly label: string;
}) {
  const scroll = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => lineHeight,
    overscan: 20,
    paddingStart: 6,
    paddingEnd: 12,
  });
  const longest = lines.reduce((most, line) => Math.max(most, Math.min(line.length, mostCharacters)), 0);
  return (
    <div className="code-scroll" ref={scroll} role="region" aria-label={label} tabIndex={0}>
      <Placed
        at={{ height: virtualizer.getTotalSize(), width: `max(100%, ${longest + 9}ch)` }}
        className="code-body"
      >
        {virtualizer.getVirtualItems().map(({ index, start, key }) => (
          <Placed key={key} at={{ transform: `translateY(${start}px)` }} className="code-line">
            <span className="line-number">{index + 1}</span>
            <LineText text={lines[index] ?? ""} tokens={tokens?.[index]} />
          </Placed>
        ))}
      </Placed>
    </div>
  );
}

export function LineText({
  text,
  tokens,
}: {
  readonly text: string;
  readonly tokens: readonly Token[] | undefined;
}) {
  if (text.length > mostCharacters)
    return <span className="line-text">{text.slice(0, mostCharacters)}…</span>;
  if (tokens === undefined) return <span className="line-text">{text}</span>;
  return (
    <span className="line-text">
      {tokens.map((token, index) =>
        token.kind === "plain" ? (
          token.text
        ) : (
          <span key={index} className={`token-${token.kind}`}>
            {token.text}
          </span>
        ),
      )}
    </span>
  );
}
