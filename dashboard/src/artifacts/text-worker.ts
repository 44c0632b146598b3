import { diffLines } from "./diff-lines.ts";
import { highlightLines } from "./highlight.ts";
import type { TextAnswer, TextRequest } from "./text-work.ts";

/** Comparing and highlighting of large files, beside the page: typing stays quick. */
addEventListener("message", ({ data }: MessageEvent<TextRequest>) => {
  const answer: TextAnswer =
    data.kind === "diff"
      ? { id: data.id, kind: "diff", lines: diffLines(data.before, data.after) }
      : { id: data.id, kind: "highlight", tokens: highlightLines(data.lines, data.path) };
  postMessage(answer);
});
