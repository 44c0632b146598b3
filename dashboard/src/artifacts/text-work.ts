import { useEffect, useState } from "react";
import type { ComparedLine } from "./diff-lines.ts";
import type { Token } from "./highlight.ts";
import { linesOf } from "./text.ts";

export type TextRequest =
  | {
      readonly id: number;
      readonly kind: "diff";
      readonly before: readonly string[];
      readonly after: readonly string[];
    }
  | {
      readonly id: number;
      readonly kind: "highlight";
      readonly lines: readonly string[];
      readonly path: string;
    };

export type TextAnswer =
  | { readonly id: number; readonly kind: "diff"; readonly lines: readonly ComparedLine[] }
  | { readonly id: number; readonly kind: "highlight"; readonly tokens: readonly (readonly Token[])[] };

let worker: Worker | undefined;
let nextId = 1;
const waiting = new Map<number, { resolve: (answer: TextAnswer) => void; reject: (error: Error) => void }>();

function ask(request: TextRequest): Promise<TextAnswer> {
  if (worker === undefined) {
    worker = new Worker(new URL("./text-worker.ts", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<TextAnswer>) => {
      waiting.get(data.id)?.resolve(data);
      waiting.delete(data.id);
    });
    worker.addEventListener("error", () => {
      for (const { reject } of waiting.values()) reject(new Error("The comparison failed."));
      waiting.clear();
      worker?.terminate();
      worker = undefined;
    });
  }
  const started = worker;
  return new Promise((resolve, reject) => {
    waiting.set(request.id, { resolve, reject });
    started.postMessage(request);
  });
}

async function diffTexts(before: string, after: string): Promise<readonly ComparedLine[]> {
  const answer = await ask({ id: nextId++, kind: "diff", before: linesOf(before), after: linesOf(after) });
  return answer.kind === "diff" ? answer.lines : [];
}

export async function highlightText(
  lines: readonly string[],
  path: string,
): Promise<readonly (readonly Token[])[]> {
  const answer = await ask({ id: nextId++, kind: "highlight", lines, path });
  return answer.kind === "highlight" ? answer.tokens : [];
}

interface State {
  readonly lines?: readonly ComparedLine[];
  readonly error?: string;
}

export function useDiff(before: string, after: string): State {
  const [state, setState] = useState<State>({});
  useEffect(() => {
    let current = true;
    diffTexts(before, after).then(
      (lines) => current && setState({ lines }),
      (error: unknown) =>
        current && setState({ error: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      current = false;
    };
  }, [before, after]);
  return state;
}
