import type { JsonObject } from "../domain/json.ts";
import type { Ticket } from "../domain/ticket.ts";
import { type Block, ticketBody } from "./ticket-body.ts";

export const renderMarkdown = (ticket: Ticket): string =>
  `${ticketBody(ticket).map(markdownBlock).join("\n\n")}\n`;

function markdownBlock(block: Block): string {
  switch (block.kind) {
    case "heading":
      return `## ${escapeMarkdown(block.text)}`;
    case "paragraph":
      return escapeMarkdown(block.text);
    case "steps":
      return block.items.map((item, index) => `${index + 1}. ${escapeMarkdown(item)}`).join("\n");
    case "code":
      return fenced(block.text);
  }
}

/** A fence longer than any run of backticks in the text, so that the text cannot close it. */
function fenced(text: string): string {
  const runs = text.match(/`+/g)?.map((run) => run.length) ?? [];
  const fence = "`".repeat(Math.max(3, ...runs.map((length) => length + 1)));
  return `${fence}text\n${text}\n${fence}`;
}

/**
 * Escapes one line of text: no markup, no HTML, no links, an @ that does not notify and a # that links nowhere.
 * Trackers link these two even after a backslash, but not after an invisible word joiner.
 */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(/[\\`*_[\]<>|~&$]/g, "\\$&")
    .replace(/:(?=\/\/)|(?<=\bwww)\./gi, "\\$&")
    .replace(/^([#+=-]|\d+(?=[.)]))/, (start) => (/\d/.test(start) ? `${start}\\` : `\\${start}`))
    .replace(/@(?=\w)|#(?=\d)/g, "$&\u2060");
}

/** Renders Atlassian Document Format. A text node is plain data. Jira refuses an empty one. */
export function renderAdf(ticket: Ticket): JsonObject {
  return { version: 1, type: "doc", content: ticketBody(ticket).map(adfBlock) };
}

function adfBlock(block: Block): JsonObject {
  switch (block.kind) {
    case "heading":
      return { type: "heading", attrs: { level: 3 }, content: adfText(block.text) };
    case "paragraph":
      return adfParagraph(block.text);
    case "steps":
      return {
        type: "orderedList",
        content: block.items.map((item) => ({ type: "listItem", content: [adfParagraph(item)] })),
      };
    case "code":
      return { type: "codeBlock", attrs: { language: "text" }, content: adfText(block.text) };
  }
}

const adfParagraph = (text: string): JsonObject => ({ type: "paragraph", content: adfText(text) });
const adfText = (text: string): JsonObject[] => (text === "" ? [] : [{ type: "text", text }]);
