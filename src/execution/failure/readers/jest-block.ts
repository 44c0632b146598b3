import type { Failure } from "../../../domain/failure.ts";
import { findFrame, type Place, preferShort, readErrorLine, readPlace } from "../places.ts";
import { failedTest } from "../test-failure.ts";

export interface Block {
  readonly source: string;
  /** Undefined when the file itself failed. */
  readonly title: string | undefined;
  readonly file: string;
  readonly lines: readonly string[];
}

/** The text under a failed test or file, as jest and vitest print it. */
export function jestBlock({ source, title, file, lines }: Block): Failure {
  const text = lines.filter((line) => line.trim() !== "" && !line.includes("● Test suite failed to run"));
  const { name, message } = readErrorLine((text[0] ?? "").trim().replace(/^thrown: "/, ""));
  const parsed = placeInMessage(message) ?? pluginPlace(text);
  const place = parsed ?? preferShort(findFrame(text) ?? { file }, file);
  return failedTest({ source, title, errorName: name, message, details: text.join("\n"), place });
}

/** Babel: "/project/src/broken.js: Unexpected token (1:28)"; the column counts from 0. */
function placeInMessage(message: string): Place | undefined {
  const found = /^(\/[^:]{1,1000}|[A-Za-z]:\\[^:]{1,1000}): .*\((\d{1,9}):(\d{1,9})\)$/.exec(message);
  if (found === null) return undefined;
  return { file: found[1] ?? "", line: Number(found[2]), column: Number(found[3]) + 1 };
}

/** Vite: "  File: /project/src/broken.js:1:0". */
function pluginPlace(lines: readonly string[]): Place | undefined {
  const line = lines.slice(0, 10).find((text) => /^\s*File: /.test(text));
  return line === undefined
    ? undefined
    : readPlace(line.replace(/^\s*File: /, "").replace(/\?[^:]*(?=:)/, ""));
}
