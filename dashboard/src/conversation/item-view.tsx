import { memo, type ReactNode, useState } from "react";
import type { TranscriptItem } from "../api/types.ts";
import { Output } from "../inspector/step-block.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { hasFailed, itemFacts, itemName } from "./item-text.ts";
import { Markdown } from "./markdown.tsx";

interface Props {
  readonly item: TranscriptItem;
  /** The address of the step in this page. */
  readonly address: string;
  /** A call has several items: the first one carries the anchor. */
  readonly isFirst: boolean;
  readonly isLinked: boolean;
}

/** One item of a conversation. All of its text is untrusted. */
export const ItemView = memo(function ItemView({ item, address, isFirst, isLinked }: Props) {
  const facts = itemFacts(item);
  const failed = hasFailed(item);
  return (
    <li
      id={item.seq === null || !isFirst ? undefined : `step-${item.seq}`}
      className={`talk-item ${item.kind} ${failed ? "failed" : ""} ${isLinked ? "linked" : ""}`}
    >
      <p className="talk-head">
        <b>{itemName(item)}</b>
        {item.kind === "tool" || item.kind === "check" ? (
          <span className={failed ? "talk-status failed" : "talk-status"}>{item.status}</span>
        ) : null}
        <span className="ink-3">{facts}</span>
        <span className="spring" />
        {item.seq === null ? null : (
          <a className="ink-3" href={address} aria-label={`Link to step ${item.seq}`}>
            #{item.seq}
          </a>
        )}
      </p>
      <Body item={item} />
    </li>
  );
});

function Body({ item }: { readonly item: TranscriptItem }) {
  switch (item.kind) {
    case "reasoning":
      return (
        <Folded title="Show the reasoning">
          <Markdown text={item.content} />
        </Folded>
      );
    case "prompt":
      if (item.messages === null) return <p className="ink-2">{item.content}</p>;
      return (
        <>
          {item.content === "" ? null : item.repeats === 0 ? (
            <Folded title="Show the prompt">
              <Output text={item.content} />
            </Folded>
          ) : (
            <Output text={item.content} />
          )}
          <Folded
            title={item.repeats === 0 ? "Show it as it was sent" : "Show what was added, as it was sent"}
          >
            <Sent text={JSON.stringify({ ...item, content: undefined }, null, 2)} />
          </Folded>
        </>
      );
    case "answer":
      return (
        <>
          {item.error === null ? null : <p className="outside talk-error">{item.error}</p>}
          {item.content === "" ? null : <Markdown text={item.content} />}
          {item.toolCalls.map(({ id, tool, arguments: args }, index) => (
            <Folded key={`${id} ${index}`} title={`→ ${tool}`}>
              <Output text={JSON.stringify(args, null, 2)} />
            </Folded>
          ))}
        </>
      );
    case "check":
      return (
        <Folded
          title={item.message === "" ? "Show its output" : item.message}
          isOpen={item.status === "failed"}
        >
          <Output text={item.content} />
        </Folded>
      );
    case "tool":
    case "step":
      return item.content === "" ? null : (
        <Folded title="Show the result" isOpen={item.status === "failed"}>
          <Output text={item.content} />
        </Folded>
      );
    case "healing":
    case "person":
    case "ending":
      return <Markdown text={item.content} />;
  }
}

function Sent({ text }: { readonly text: string }) {
  return (
    <>
      <CopyButton text={text} label="Copy the prompt" />
      <Output text={text} />
    </>
  );
}

interface FoldedProps {
  readonly title: string;
  readonly isOpen?: boolean;
  readonly children: ReactNode;
}

/** Its content is made when it is opened: a conversation may have megabytes of it. */
function Folded({ title, isOpen = false, children }: FoldedProps) {
  const [open, setOpen] = useState(isOpen);
  return (
    <div className="talk-fold">
      <button type="button" className="link outside" aria-expanded={open} onClick={() => setOpen(!open)}>
        {title}
      </button>
      {open ? children : null}
    </div>
  );
}
