import { setImmediate } from "node:timers/promises";
import { InputInvalid } from "../domain/errors.ts";
import type { SearchPattern } from "./search-pattern.ts";

export interface SearchMatch {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** The line, or the part of a long one where the match is. */
  readonly text: string;
}

export const searchLimits = {
  maxMatches: 200,
  maxTextLength: 300,
  maxBytes: 64 * 1024 * 1024,
} as const;

/** Others get their turn after so much text. */
const lengthPerTurn = 256 * 1024;

/** In order of path and line. Files that are not text are passed over. */
export async function searchFiles(
  pattern: SearchPattern,
  paths: readonly string[],
  read: (path: string) => Promise<string | undefined>,
): Promise<readonly SearchMatch[]> {
  const matches: SearchMatch[] = [];
  let seen = 0;
  for (const path of paths) {
    const text = await read(path);
    if (text === undefined) continue;
    if (Math.floor((seen + text.length) / lengthPerTurn) > Math.floor(seen / lengthPerTurn))
      await setImmediate();
    seen += text.length;
    if (seen > searchLimits.maxBytes) throw tooMuch();
    if (!pattern.mayBeIn(text)) continue;
    for await (const match of matchesIn(path, text, pattern)) {
      if (matches.push(match) === searchLimits.maxMatches) return matches;
    }
  }
  return matches;
}

async function* matchesIn(path: string, text: string, pattern: SearchPattern): AsyncIterable<SearchMatch> {
  let turnEnds = lengthPerTurn;
  for (let line = 1, start = 0; start < text.length; line += 1) {
    const end = text.indexOf("\n", start);
    const next = end === -1 ? text.length : end + 1;
    const content = text.slice(start, end === -1 ? undefined : text[end - 1] === "\r" ? end - 1 : end);
    const place = pattern.endIn(content);
    if (place !== -1) yield { path, line, text: around(content, place) };
    start = next;
    if (start > turnEnds) {
      await setImmediate();
      turnEnds = start + lengthPerTurn;
    }
  }
}

function around(line: string, place: number): string {
  const { maxTextLength } = searchLimits;
  if (line.length <= maxTextLength) return line;
  const start = Math.max(0, Math.min(place - Math.floor(maxTextLength / 2), line.length - maxTextLength));
  const end = start + maxTextLength;
  return `${start > 0 ? "…" : ""}${line.slice(start, end)}${end < line.length ? "…" : ""}`;
}

const tooMuch = (): InputInvalid =>
  new InputInvalid(`The search would read more than ${searchLimits.maxBytes} bytes.`, {
    advice: 'Narrow it with a glob, such as "src/**".',
  });
