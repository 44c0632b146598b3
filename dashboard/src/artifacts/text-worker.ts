import { compareLines } from "./diff-lines.ts";
import { highlightLines } from "./highlight.ts";
import type { TextAnswer, TextRequest } from "./text-work.ts";

/** Compares and highlights large files off the main thread. */
addEventListener("message", ({ data }: MessageEvent<TextRequest>) => {
  const answer: TextAnswer =
    data.kind === "diff"
      ? { id: data.id, kind: "diff", lines: compareLines(data.before, data.after) }
      : { id: data.id, kind: "highlight", tokens: highlightLines(data.lines, data.path) };
  postMessage(answer);
});
