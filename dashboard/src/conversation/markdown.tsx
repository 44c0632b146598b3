import { memo } from "react";
import { plainText } from "../format/plain-text.ts";
import { type MarkdownBlock, markdownBlocks, markdownSpans } from "./markdown-blocks.ts";

/** Untrusted Markdown as elements: no markup of its own, no links, no images. */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  return (
    <div className="markdown outside">
      {markdownBlocks(plainText(text)).map((block, index) => (
        <Block key={index} block={block} />
      ))}
    </div>
  );
});

function Block({ block }: { readonly block: MarkdownBlock }) {
  switch (block.kind) {
    case "code":
      return (
        <pre role="region" aria-label="Code" tabIndex={0}>
          {block.text}
        </pre>
      );
    case "heading":
      return (
        <p className="markdown-heading">
          <Spans text={block.text} />
        </p>
      );
    case "list": {
      const items = block.items.map((item, index) => (
        <li key={index}>
          <Spans text={item} />
        </li>
      ));
      return block.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
    case "quote":
      return (
        <blockquote>
          <Spans text={block.text} />
        </blockquote>
      );
    case "paragraph":
      return (
        <p>
          <Spans text={block.text} />
        </p>
      );
  }
}

function Spans({ text }: { readonly text: string }) {
  return markdownSpans(text).map(({ kind, text: inner }, index) => {
    if (kind === "code") return <code key={index}>{inner}</code>;
    if (kind === "strong") return <b key={index}>{inner}</b>;
    return kind === "emphasis" ? <i key={index}>{inner}</i> : inner;
  });
}
