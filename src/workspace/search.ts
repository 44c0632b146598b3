import { setImmediate } from "node:timers/promises";
import type { RE2JS } from "re2js";
import { InputInvalid } from "../domain/errors.ts";

export interface SearchMatch {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** The line, or the part of a long line with the match. */
  readonly text: string;
}

export const searchLimits = {
  maxMatches: 200,
  maxTextLength: 300,
  maxBytes: 64 * 1024 * 1024,
} as const;

/** After this much text, other work gets its turn. */
const lengthPerTurn = 256 * 1024;

/** In order of path and line. Skips files that are not text. */
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

const maxLength = 1000;

interface SearchPattern {
  /** A quick test of a whole file. A "no" is always right; a "yes" may be wrong. */
  mayBeIn(text: string): boolean;
  /** The end of a match in the line, or -1. */
  endIn(line: string): number;
}

/** Plain text, or a regular expression if written /like this/ or /like this/i. */
export async function searchPattern(pattern: string): Promise<SearchPattern> {
  if (pattern === "") throw refused("is empty", "Give the text to look for.");
  if (pattern.length > maxLength) throw refused(`is longer than ${maxLength} characters`, "Look for less.");
  // A slash inside must be escaped, so that a path such as /usr/bin/ stays plain text.
  const expression = /^\/((?:[^/\\[]|\\.|\[(?:[^\]\\]|\\.)*\])+)\/([dgimsuvy]*)$/.exec(pattern);
  return expression === null ? plain(pattern) : regular(expression[1] ?? "", expression[2] ?? "");
}

function plain(text: string): SearchPattern {
  if (/[\r\n]/.test(text))
    throw refused("spans lines", "Lines are searched one by one: look for one of them.");
  return {
    mayBeIn: (whole) => whole.includes(text),
    endIn: (line) => {
      const start = line.indexOf(text);
      return start === -1 ? -1 : start + text.length;
    },
  };
}

/** RE2 matches in time proportional to the text, so no model's pattern can stall the process. */
async function regular(source: string, flags: string): Promise<SearchPattern> {
  const expression = await compile(source, flags.includes("i"));
  return {
    mayBeIn: () => true,
    endIn: (line) => {
      // Most lines do not match, and a test is several times faster than a matcher.
      if (!expression.test(line)) return -1;
      const matcher = expression.matcher(line);
      return matcher.find() ? matcher.end() : -1;
    },
  };
}

/** Loads the engine on first use, because most searches are for plain text. */
async function compile(source: string, ignoreCase: boolean): Promise<RE2JS> {
  const { RE2JS, RE2JSException } = await import("re2js");
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source), ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new InputInvalid(`The regular expression is refused: ${error.message}.`, {
      cause: error,
      advice:
        "Write it in RE2 syntax, which has no look-around and no back-references, or look for plain text.",
    });
  }
}

const refused = (why: string, advice: string): InputInvalid =>
  new InputInvalid(`The pattern ${why}.`, { advice });
