import type { CheckResult } from "./contract.ts";
import type { Failure } from "./failure.ts";
import { countedTests } from "./test-report.ts";

/** Maximum text of one check for a model. */
export const longestReport = 16_000;
const longestEnding = 4_000;
const shortEnding = 1_000;

/**
 * A check as a model reads it: its outcome, its tests, each failure with its place and the tool's message, and the
 * end of its output. Bounded: failures come first, and the end of the output has its own room.
 */
export function checkReport({ name, status, message, tests, failures, ending = "" }: CheckResult): string {
  const head = [`${name}: ${status}`, message, ...(tests === undefined ? [] : [countedTests(tests)])];
  const end = lastLines(ending, status === "passed" ? shortEnding : longestEnding);
  const tail = end === "" ? [] : ["The end of its output:", end];
  const room = longestReport - [...head, ...tail].join("\n").length - 100;
  return [...head, ...fitting(failures, room), ...tail].filter((part) => part !== "").join("\n");
}

function fitting(failures: readonly Failure[], room: number): readonly string[] {
  const shown: string[] = [];
  let left = room;
  for (const [at, failure] of failures.entries()) {
    const text = failureLines(failure);
    if (text.length > left) {
      if (at === 0) shown.push(`${text.slice(0, Math.max(0, left)).toWellFormed()}…`);
      const more = failures.length - shown.length;
      return more === 0 ? shown : [...shown, `[and ${more} more ${more === 1 ? "failure" : "failures"}]`];
    }
    shown.push(text);
    left -= text.length + 1;
  }
  return shown;
}

function failureLines({ category, message, file, line, details }: Failure): string {
  const place = file === undefined ? "" : ` (${file}${line === undefined ? "" : `:${line}`})`;
  return `- ${category}: ${message}${place}${details === undefined ? "" : `\n${details}`}`;
}

/** The end of a text, in whole lines if one fits. */
export function lastLines(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.slice(-most);
  const line = end.indexOf("\n");
  return (line === -1 || line === end.length - 1 ? end : end.slice(line + 1)).toWellFormed();
}
