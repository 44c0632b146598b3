import { isUtf8 } from "node:buffer";

/** Undefined if the bytes are not text: not UTF-8, or with a NUL, as in UTF-16. A byte order mark stays. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (!isUtf8(bytes) || bytes.includes(0)) return undefined;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** Lines with their ends, so that joining them gives the text again. */
export function splitLines(text: string): string[] {
  const lines: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start);
    const next = end === -1 ? text.length : end + 1;
    lines.push(text.slice(start, next));
    start = next;
  }
  return lines;
}

/** One line for people: without its end, bounded, and without terminal control characters. */
export function cutLine(line: string, maxLength = 160): string {
  const bare = line.replace(/\r?\n$/, "").replace(/(?!\t)\p{Cc}/gu, "\ufffd");
  return bare.length > maxLength ? `${bare.slice(0, maxLength)}…` : bare;
}

/** Text with "\n" only, and its original line ends: one kind for all, or the positions of "\r\n" in a mixed file. */
export interface UnifiedText {
  readonly text: string;
  readonly ends: "\n" | "\r\n" | readonly boolean[];
}

/** Replaces the text between two offsets. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export function unify(text: string): UnifiedText {
  if (!text.includes("\r\n")) return { text, ends: "\n" };
  const unified = text.replaceAll("\r\n", "\n");
  const ends: boolean[] = [];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1))
    ends.push(text[at - 1] === "\r");
  return { text: unified, ends: ends.every(Boolean) ? "\r\n" : ends };
}

export function restore({ text, ends }: UnifiedText): string {
  if (ends === "\n") return text;
  if (ends === "\r\n") return text.replaceAll("\n", "\r\n");
  let line = 0;
  return text.replaceAll("\n", () => (ends[line++] ? "\r\n" : "\n"));
}

/** In order and without overlaps. Unchanged lines keep their ends, and new ones take those around them. */
export function replaceIn({ text, ends }: UnifiedText, replacements: readonly Replacement[]): UnifiedText {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, text: replacement } of replacements) {
    parts.push(text.slice(at, start), replacement);
    at = end;
  }
  parts.push(text.slice(at));
  const replaced = parts.join("");
  return { text: replaced, ends: typeof ends === "string" ? ends : replacedEnds(text, ends, replacements) };
}

function replacedEnds(
  text: string,
  ends: readonly boolean[],
  replacements: readonly Replacement[],
): boolean[] {
  const replaced: boolean[] = [];
  let line = 0;
  let at = 0;
  for (const { start, end, text: replacement } of replacements) {
    const kept = countLines(text, at, start);
    for (const stop = line + kept; line < stop; line += 1) replaced.push(ends[line] ?? false);
    const removed = countLines(text, start, end);
    const around = ends[line + Math.max(removed - 1, 0)] ?? ends[line - 1] ?? false;
    const added = countLines(replacement, 0, replacement.length);
    for (let index = 0; index < added; index += 1) {
      replaced.push(index < removed ? (ends[line + index] ?? around) : around);
    }
    line += removed;
    at = end;
  }
  for (; line < ends.length; line += 1) replaced.push(ends[line] ?? false);
  return replaced;
}

export function countLines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

export interface EncodedText {
  readonly encoding: "UTF-8" | "UTF-16LE" | "UTF-16BE" | "windows-1252";
  /** Includes its byte order mark. */
  readonly text: string;
  /** Encodes another text the same way; undefined if the encoding lacks its characters. */
  readonly encode: (text: string) => Buffer | undefined;
}

/**
 * The text of a file, and how to write it so that every unchanged byte stays. UTF-16 is recognized by its byte
 * order mark, windows-1252 (including Latin-1) by exclusion. Undefined for every other encoding.
 */
export function readEncoded(bytes: Buffer): EncodedText | undefined {
  const text = decodeText(bytes);
  if (text !== undefined) return { encoding: "UTF-8", text, encode: (changed) => Buffer.from(changed) };
  return /^(?:\xff\xfe|\xfe\xff)/.test(bytes.toString("latin1", 0, 2))
    ? readUtf16(bytes)
    : readWindows1252(bytes);
}

const byteOrderMark = "\ufeff";

/** Encodes a text like another one, or in UTF-8 if that encoding lacks its characters. */
export function encodedLike({ text, encode }: EncodedText, next: string): Buffer | string {
  const isMarked = text.startsWith(byteOrderMark) && !next.startsWith(byteOrderMark);
  return encode(isMarked ? byteOrderMark + next : next) ?? next;
}

function readUtf16(bytes: Buffer): EncodedText | undefined {
  if (bytes.length % 2 !== 0) return undefined;
  const isBig = bytes[0] === 0xfe;
  // Swaps bytes in place, so on a copy.
  const inOrder = (some: Buffer): Buffer => (isBig ? Buffer.from(some).swap16() : some);
  const text = inOrder(bytes).toString("utf16le");
  if (!text.isWellFormed() || text.includes("\0")) return undefined;
  return {
    encoding: isBig ? "UTF-16BE" : "UTF-16LE",
    text,
    encode: (changed) => (changed.isWellFormed() ? inOrder(Buffer.from(changed, "utf16le")) : undefined),
  };
}

/**
 * Bytes that have no character, or that texts do not contain. Tab, line feed, form feed and carriage return are
 * text.
 */
const noText = /(?![\t\n\f\r\x80-\x9f])\p{Cc}|[\x81\x8d\x8f\x90\x9d]/u;
/** UTF-8 with a broken sequence, or another multi-byte encoding. */
const otherEncoding = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/;

function readWindows1252(bytes: Buffer): EncodedText | undefined {
  const asBytes = bytes.toString("latin1");
  if (noText.test(asBytes) || otherEncoding.test(asBytes) || isOtherAlphabet(asBytes)) return undefined;
  const text = new TextDecoder("windows-1252").decode(bytes);
  return { encoding: "windows-1252", text, encode: encodeWindows1252 };
}

/** Accented letters are mixed with others. A word of only such letters is Cyrillic, Greek or another script. */
function isOtherAlphabet(asBytes: string): boolean {
  let [alone, among] = [0, 0];
  for (const [word] of asBytes.matchAll(/[A-Za-z\xc0-\xff]{2,}/g)) {
    if (!/[A-Za-z]/.test(word)) alone += 1;
    else if (/[\xc0-\xff]/.test(word)) among += 1;
  }
  return alone > among;
}

/** Where it differs from Latin-1. */
const firstOwn = 0x80;

function encodeWindows1252(text: string): Buffer | undefined {
  const ownCodes = Uint8Array.from({ length: 0x20 }, (_, index) => firstOwn + index);
  const ownCharacters = new TextDecoder("windows-1252").decode(ownCodes);
  const codes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) {
    const own = ownCharacters.indexOf(text.charAt(at));
    const code = own === -1 ? text.charCodeAt(at) : firstOwn + own;
    if (code > 0xff || (own === -1 && code >= firstOwn && code < firstOwn + 0x20)) return undefined;
    codes[at] = code;
  }
  return Buffer.from(codes.buffer);
}
