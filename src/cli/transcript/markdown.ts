import type { TranscriptItem } from "../../journal/transcript/item.ts";
import { bodyOf, conversationsOf, itemTitle } from "./conversations.ts";

/** For a file or a comment. Text of models and programs stays in blocks of its own. */
export function* transcriptMarkdown(title: string, items: readonly TranscriptItem[]): Generator<string> {
  yield `# ${oneLine(title)}`;
  for (const { title: place, items: own } of conversationsOf(items)) {
    yield "";
    yield `## ${oneLine(place)}`;
    for (const item of own) {
      yield "";
      yield `### ${oneLine(itemTitle(item))}`;
      const body = bodyOf(item).replace(/\s+$/, "");
      if (body === "") continue;
      yield "";
      yield* item.kind === "reasoning" ? hidden(body) : fenced(body);
    }
  }
}

function* hidden(body: string): Generator<string> {
  yield "<details><summary>reasoning</summary>";
  yield "";
  yield* fenced(body);
  yield "";
  yield "</details>";
}

/** The fence is longer than any in the text. */
function* fenced(body: string): Generator<string> {
  const longest = Math.max(2, ...[...body.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  yield `${fence}text`;
  yield body;
  yield fence;
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").replaceAll(/[<>#]/g, "\\$&");
