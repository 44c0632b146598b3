import type { ModelTurn } from "../../support/loopback-model-turn.ts";

/** How many answers the conversation of reader-team.yaml has. */
export const readerAnswers = 30;

const call = (id: string, tool: string, input: unknown) => ({ id, tool, input });

const noteOf = (book: number): string =>
  Array.from({ length: 30 + book }, (_, line) => `Page ${line} of book ${book} is about shelves.`).join("\n");

/** The answers of the reader, in order: it writes notes, reads them again, and submits with the last one. */
export function readerReply(answersBefore: number): ModelTurn {
  const book = answersBefore;
  if (book === readerAnswers - 1) return { calls: [call("end", "submit", { summary: "All are read." })] };
  const path = `notes/${book}.md`;
  const write = call(`w${book}`, "write_file", { path, content: `# Book ${book}\n\n${noteOf(book)}\n` });
  const read = call(`r${book}`, "read_file", { path, from: 3, lines: 20 });
  const check = call(`c${book}`, "run_check", { name: "has-notes" });
  const calls = book % 5 === 4 ? [check, write, read] : [write, read];
  return { text: `Book ${book} is read.`, calls, ...(book % 3 === 0 && thoughts) };
}

export const asksForSummary = (text: string): boolean => text.includes("Call no tool. Write a summary");

/** The same answers where a summary has replaced the first ones: the books that a request quotes say which is next. */
export function summarizingReply(text: string): ModelTurn {
  const read = Math.max(-1, ...[...text.matchAll(/Book (\d+) is read/g)].map(([, book]) => Number(book)));
  return asksForSummary(text)
    ? { text: `Notes are in notes/. Book ${read} is read.` }
    : readerReply(read + 1);
}

const thoughts = { reasoning: "A note must have a title." };
