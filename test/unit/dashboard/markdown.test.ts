import { describe, expect, test } from "vitest";
import { markdownBlocks, markdownSpans } from "../../../dashboard/src/conversation/markdown-blocks.ts";

describe("Markdown of an answer", () => {
  test("is read as headings, lists, quotes, code and paragraphs", () => {
    const text =
      "# Plan\nFirst line\nsecond line\n\n- one\n- two\n\n1. a\n2) b\n> said\n```ts\n# no heading\n```\nend";
    expect(markdownBlocks(text)).toEqual([
      { kind: "heading", level: 1, text: "Plan" },
      { kind: "paragraph", text: "First line\nsecond line" },
      { kind: "list", ordered: false, items: ["one", "two"] },
      { kind: "list", ordered: true, items: ["a", "b"] },
      { kind: "quote", text: "said" },
      { kind: "code", text: "# no heading" },
      { kind: "paragraph", text: "end" },
    ]);
  });

  test("keeps a fence that has no end, and markup as text", () => {
    expect(markdownBlocks("```\n<script>")).toEqual([{ kind: "code", text: "<script>" }]);
    expect(markdownSpans("<img src=x> [a](javascript:b)")).toEqual([
      { kind: "text", text: "<img src=x> [a](javascript:b)" },
    ]);
  });

  test("has spans of code, bold and italic text", () => {
    expect(markdownSpans("a `b*` **c** *d* e*f*g")).toEqual([
      { kind: "text", text: "a " },
      { kind: "code", text: "b*" },
      { kind: "text", text: " " },
      { kind: "strong", text: "c" },
      { kind: "text", text: " " },
      { kind: "emphasis", text: "d" },
      { kind: "text", text: " e*f*g" },
    ]);
  });

  test("of a hostile length takes linear time", () => {
    const began = performance.now();
    for (const part of ["*", "`", "**a", "#", "- ", "> "]) markdownBlocks(part.repeat(200_000));
    expect(markdownSpans("*a".repeat(100_000)).length).toBeGreaterThan(0);
    expect(performance.now() - began).toBeLessThan(20_000);
  });
});
