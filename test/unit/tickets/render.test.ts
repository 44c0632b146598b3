import { describe, expect, test } from "vitest";
import { escapeMarkdown, renderAdf, renderMarkdown } from "../../../src/tickets/render.ts";
import { adfProblem } from "../../support/loopback-adf.ts";
import { sampleTicket } from "./sample-ticket.ts";

test("the body answers what the person on call asks, in that order", () => {
  const markdown = renderMarkdown(sampleTicket());
  const questions = markdown.split("\n").filter((line) => line.startsWith("## "));
  expect(questions.slice(0, 5)).toEqual([
    "## Is anything lost?",
    "## What does it cost now?",
    "## Why did it stop?",
    "## What do I do?",
    "## How do I resume?",
  ]);
  for (const part of [
    "41,000 tokens, 0.3125 USD",
    "after 6 attempts: CONTRACT",
    "docs/design.md has no title",
    "1. Read the failures",
    "\nmaestro resume 01k0g2t5c8r7w9x3y4z5a6b7c8\n",
    "round 1, attempt 1 (CONTRACT): docs/design.md is missing",
    "found docs/desing.md",
    "session: 01k0g2t5c8r7w9x3y4z5a6b7c8",
    "model: anthropic/claude-sonnet-4-5",
  ])
    expect(markdown).toContain(part);
});

test("unknown values are left out", () => {
  const { spent: _spent, ...ticket } = sampleTicket({ failures: [], suggestedActions: [], details: "" });
  const markdown = renderMarkdown(ticket);
  expect(markdown).not.toContain("USD");
  expect(markdown).toContain("Read the failures below");
  expect(renderMarkdown({ ...ticket, spent: { tokens: 5 } })).toContain(
    "5 tokens, at a price that is not known",
  );
  expect(adfProblem(renderAdf(ticket))).toBeUndefined();
});

test("the largest ticket fits, with visible cuts, and keeps its answers whole", () => {
  const failures = Array.from({ length: 40 }, (_, index) => ({
    round: 1,
    attempt: index,
    message: "*".repeat(1000),
  }));
  const ticket = sampleTicket({
    message: "*".repeat(500),
    failures,
    details: "`".repeat(20_000),
    context: Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`k${index}`, "*".repeat(400)])),
    suggestedActions: Array.from({ length: 10 }, () => "*".repeat(400)),
  });
  const markdown = renderMarkdown(ticket);
  expect(markdown.length).toBeLessThanOrEqual(30_000);
  expect(markdown).toContain("[cut: ");
  expect(markdown).toContain(ticket.resumeCommand);
  const adf = renderAdf(ticket);
  expect(adfProblem(adf)).toBeUndefined();
  expect(textOf(adf).length).toBeLessThanOrEqual(30_000);
});

describe("text of users and models is data", () => {
  test.each([
    [
      "markup",
      "**bold** _x_ `code` ~~no~~ | a |",
      "\\*\\*bold\\*\\* \\_x\\_ \\`code\\` \\~\\~no\\~\\~ \\| a \\|",
    ],
    ["HTML", "<img src=x onerror=alert(1)> &lt;", "\\<img src=x onerror=alert(1)\\> \\&lt;"],
    ["links", "[click](https://evil.example)", "\\[click\\](https\\://evil.example)"],
    ["addresses", "see www.evil.example", "see www\\.evil.example"],
    ["headings", "# title", "\\# title"],
    ["lists", "- item", "\\- item"],
    ["numbered lists", "1. item", "1\\. item"],
    ["lines", "a\n\n# b", "a # b"],
    ["people and issues", "ask @octocat about #12", "ask @\u2060octocat about #\u206012"],
    ["backslashes", "a\\*b", "a\\\\\\*b"],
    ["ordinary text", "docs/design.md is missing (see 3.2)", "docs/design.md is missing (see 3.2)"],
  ])("%s", (_what, text, escaped) => {
    expect(escapeMarkdown(text)).toBe(escaped);
  });

  test("a fence cannot be closed from within", () => {
    const markdown = renderMarkdown(sampleTicket({ details: "```\n# out\n````\n<script>" }));
    expect(markdown).toContain("`````text\n```\n# out\n````\n<script>\n`````");
  });

  test("control characters and marks that turn text around are removed", () => {
    const odd = "a\u0000b\u001b[31mc\u0007d\u202ee\u200bf\u2066g\u0085h\r\ni\ud800";
    const markdown = renderMarkdown(sampleTicket({ details: odd }));
    expect(markdown).toContain("abcdefgh\ni\ufffd");
    // oxlint-disable-next-line no-control-regex -- that there are none is the point
    expect(markdown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202e\u2066]/);
  });
});

function textOf(node: unknown): string {
  if (typeof node !== "object" || node === null) return "";
  const { text, content } = node as { text?: string; content?: unknown[] };
  return (text ?? "") + (content ?? []).map(textOf).join("");
}
