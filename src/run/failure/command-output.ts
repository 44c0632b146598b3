import type { Failure } from "../../domain/failure.ts";

/** The end of a command. `exitCode` is null when a signal ended it. */
export interface CommandOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly command?: readonly string[];
}

/** `undefined`: not the output of this tool. Empty: the tool ran and nothing failed. */
export type OutputReader = (output: CommandOutput) => Failure[] | undefined;

const maxStreamLength = 10_000_000;
const maxLineLength = 4000;
const maxLines = 100_000;
export const maxFound = 1000;

interface Prepared {
  readonly text: string;
  readonly lines: readonly string[];
}

const prepared = new WeakMap<CommandOutput, Prepared>();

/** Both streams without colors, bounded; prepared once for all readers. */
function prepare(output: CommandOutput): Prepared {
  const known = prepared.get(output);
  if (known !== undefined) return known;
  const text = [output.stdout, output.stderr].map(clean).join("\n");
  const made = { text, lines: splitLines(text) };
  prepared.set(output, made);
  return made;
}

export const textOf = (output: CommandOutput): string => prepare(output).text;
export const linesOf = (output: CommandOutput): readonly string[] => prepare(output).lines;

/** Bounds the failures of a hostile tool. */
export function collect(found: Iterable<Failure>): Failure[] {
  const failures: Failure[] = [];
  for (const failure of found) {
    if (failures.push(failure) >= maxFound) break;
  }
  return failures;
}

// Control sequences, titles and links of terminals. Each alternative is linear: it never looks past the next ESC.
const escapes = new RegExp(
  String.raw`\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]{0,2000}(?:\u0007|\u001b\\)?|\u001b[@-Z\\-_]`,
  "g",
);

const clean = (stream: string): string =>
  (stream.length <= maxStreamLength
    ? stream
    : `${stream.slice(0, maxStreamLength / 2)}\n${stream.slice(-maxStreamLength / 2)}`
  )
    .replaceAll(escapes, "")
    .replaceAll("\r\n", "\n");

/** The first and the last lines, each cut. Bounded also for a text of line ends only. */
function splitLines(text: string): string[] {
  const first: string[] = [];
  let start = 0;
  while (first.length < maxLines / 2) {
    const end = text.indexOf("\n", start);
    first.push(cut(text, start, end === -1 ? text.length : end));
    if (end === -1) return first;
    start = end + 1;
  }
  const last: string[] = [];
  let end = text.length;
  while (last.length < maxLines / 2 && end >= start) {
    const before = end === 0 ? -1 : text.lastIndexOf("\n", end - 1);
    last.push(cut(text, Math.max(before + 1, start), end));
    end = before;
  }
  return [...first, ...last.toReversed()];
}

const cut = (text: string, start: number, end: number): string =>
  text.slice(start, Math.min(end, start + maxLineLength));
