import { decodeText } from "./text.ts";

export interface EncodedText {
  readonly encoding: "UTF-8" | "UTF-16LE" | "UTF-16BE" | "windows-1252";
  /** With its byte order mark. */
  readonly text: string;
  /** Another text in the same encoding; `undefined` where that has no such characters. */
  readonly encode: (text: string) => Buffer | undefined;
}

/**
 * The text in a file, and how to write it so that every unchanged byte stays. UTF-16 is known by its byte order
 * mark, windows-1252 (and Latin-1 within it) by what it cannot be otherwise; `undefined` for everything else.
 */
export function readEncoded(bytes: Buffer): EncodedText | undefined {
  const text = decodeText(bytes);
  if (text !== undefined) return { encoding: "UTF-8", text, encode: (changed) => Buffer.from(changed) };
  return /^(?:\xff\xfe|\xfe\xff)/.test(bytes.toString("latin1", 0, 2))
    ? readUtf16(bytes)
    : readWindows1252(bytes);
}

const byteOrderMark = "\ufeff";

/** A text in place of another; in UTF-8 where the encoding of the other has no such characters. */
export function encodedLike({ text, encode }: EncodedText, next: string): Buffer | string {
  const isMarked = text.startsWith(byteOrderMark) && !next.startsWith(byteOrderMark);
  return encode(isMarked ? byteOrderMark + next : next) ?? next;
}

function readUtf16(bytes: Buffer): EncodedText | undefined {
  if (bytes.length % 2 !== 0) return undefined;
  const isBig = bytes[0] === 0xfe;
  // Swaps in place, so on a copy.
  const inOrder = (some: Buffer): Buffer => (isBig ? Buffer.from(some).swap16() : some);
  const text = inOrder(bytes).toString("utf16le");
  if (!text.isWellFormed() || text.includes("\0")) return undefined;
  return {
    encoding: isBig ? "UTF-16BE" : "UTF-16LE",
    text,
    encode: (changed) => (changed.isWellFormed() ? inOrder(Buffer.from(changed, "utf16le")) : undefined),
  };
}

/** Bytes that have no character in it, or that no text has: tabulator, line end, form feed and return are text. */
const noText = /(?![\t\n\f\r\x80-\x9f])\p{Cc}|[\x81\x8d\x8f\x90\x9d]/u;
/** A text in UTF-8 with a broken place, or one of an encoding with several bytes for a character. */
const otherEncoding = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/;

function readWindows1252(bytes: Buffer): EncodedText | undefined {
  const asBytes = bytes.toString("latin1");
  if (noText.test(asBytes) || otherEncoding.test(asBytes) || isOtherAlphabet(asBytes)) return undefined;
  const text = new TextDecoder("windows-1252").decode(bytes);
  return { encoding: "windows-1252", text, encode: encodeWindows1252 };
}

/** Accented letters stand among others; a word of such letters alone is Cyrillic, Greek or another script. */
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
