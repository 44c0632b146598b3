import { createHash } from "node:crypto";
import { isJsonObject, type Json } from "../../domain/json.ts";
import type { TokenUsage } from "../../domain/usage.ts";

/** An estimate of a call's input tokens, before the provider counts them. */
export interface InputCount {
  /** A report below this is no count. */
  readonly least: number;
  readonly typical: number;
  /** The amount that a budget reserves. */
  readonly most: number;
}

/** Tokens that providers add themselves: tool instructions, roles. */
const hiddenTokens = 1_000;
/** A picture costs what it shows, not what its bytes are; other files may be shown page by page besides. */
const tokensPerFile = { typical: 2_000, most: 16_000 };

interface Weight {
  readonly bytes: number;
  /** Of the bytes, those that a provider surely counts as text. */
  readonly textBytes: number;
  readonly tokenBound: number;
  readonly files: number;
}

interface Weighed {
  readonly messages: number;
  readonly digest: string;
  readonly weight: Weight;
}

/**
 * Counts a call's input before it is made, without a tokenizer (they are slow, and stall on some texts): what the call
 * before took, as its provider counted, and what was added since.
 */
export class InputCounter {
  #last: (Weighed & { readonly tokens: number }) | undefined;
  /** The provider has counted more than the bound: only the number of bytes is left to go by. */
  #isDenser = false;

  /** `call`: as `canonicalCall` makes it. */
  count(call: Json): InputCount {
    const weighed = weigh(call);
    const weight = this.#isDenser ? byBytes(weighed.weight) : weighed.weight;
    const least = leastTokens(weight.textBytes);
    const last = this.#last;
    // Only what the provider counted for these very messages says anything about them.
    if (last !== undefined && digestOf(textOf(call, last.messages)) === last.digest) {
      const added = difference(weight, this.#isDenser ? byBytes(last.weight) : last.weight);
      return { least, ...roomFor(added, last.tokens) };
    }
    return { least, ...roomFor(weight, 0, hiddenTokens) };
  }

  learn(call: Json, usage: TokenUsage | null): void {
    if (usage === null) return;
    const weighed = weigh(call);
    this.#isDenser ||= usage.inputTokens > roomFor(weighed.weight, 0, hiddenTokens).most;
    // Thoughts may be kept by the provider and sent along again, under a short name.
    this.#last = { ...weighed, tokens: usage.inputTokens + usage.reasoningTokens };
  }
}

function roomFor({ bytes, tokenBound, files }: Weight, counted: number, hidden = 0) {
  const most = Math.min(bytes, tokenBound);
  return {
    typical: counted + Math.min(Math.ceil(bytes / 2), most) + files * tokensPerFile.typical,
    most: counted + hidden + most + files * tokensPerFile.most,
  };
}

const byBytes = (weight: Weight): Weight => ({ ...weight, tokenBound: weight.bytes });

const difference = (now: Weight, before: Weight): Weight => ({
  bytes: now.bytes - before.bytes,
  textBytes: now.textBytes - before.textBytes,
  tokenBound: now.tokenBound - before.tokenBound,
  files: now.files - before.files,
});

function weigh(call: Json): Weighed {
  let files = 0;
  let untoldBytes = 0;
  const messages = messagesOf(call).length;
  const text = textOf(call, messages, (key, value) => {
    if (isFile(value)) files += 1;
    if (isFile(value) || isUntold(key, value)) untoldBytes += Buffer.byteLength(JSON.stringify(value));
  });
  const bytes = Buffer.byteLength(text);
  return {
    messages,
    digest: digestOf(text),
    weight: {
      bytes,
      textBytes: Math.max(0, bytes - untoldBytes),
      tokenBound: tokenBound(text),
      files,
    },
  };
}

/** The call's first messages and all that goes with every message. */
function textOf(call: Json, messages: number, look?: (key: string, value: unknown) => void): string {
  const { prompt: _, ...beside } = isJsonObject(call) ? call : {};
  return JSON.stringify([beside, messagesOf(call).slice(0, messages)], (key, value: unknown) => {
    const shown = isFile(value) && isPicture(value) ? withoutData(value) : value;
    look?.(key, shown);
    return shown;
  });
}

function messagesOf(call: Json): readonly Json[] {
  const prompt = isJsonObject(call) ? call["prompt"] : undefined;
  return Array.isArray(prompt) ? (prompt as readonly Json[]) : [];
}

/** Thoughts that were thought are not counted again by every provider, nor are the seals that come with them. */
const isUntold = (key: string, value: unknown): boolean =>
  value !== undefined &&
  (key === "providerOptions" || (isJsonObject(value) && value["type"] === "reasoning"));

interface FilePart {
  readonly mediaType: string;
  readonly data: unknown;
}

const isFile = (value: unknown): value is FilePart =>
  isJsonObject(value) && typeof value["mediaType"] === "string" && value["data"] !== undefined;

const isPicture = ({ mediaType }: FilePart): boolean => /^image(?:\/|$)/i.test(mediaType);

const withoutData = (picture: FilePart): FilePart => ({
  ...picture,
  data: digestOf(JSON.stringify(picture.data)),
});

const digestOf = (text: string): string => createHash("sha256").update(text).digest("base64");

/** Pairs of lowercase letters that a common tokenizer splits. Rare in words; a quarter of the pairs in random text. */
const rarePairs: Readonly<Record<string, string>> = {
  a: "q",
  b: "hjkqvwxz",
  c: "gjqw",
  d: "qv",
  e: "o",
  f: "hjkqvyz",
  g: "dfjkmpqvwx",
  h: "bcfgjkqvxz",
  i: "q",
  j: "cfghjnrvwxyz",
  k: "dfjpqxz",
  l: "cfhkqwxz",
  m: "fghjrwz",
  n: "fhjkqvwz",
  o: "q",
  p: "jqvwz",
  q: "bcdefghjkmnoprsvwxyz",
  r: "jkq",
  s: "jxy",
  t: "gjq",
  u: "qu",
  v: "fghjkpqvwxz",
  w: "bcfgjklmquvz",
  x: "bdghjkmnoqruvwz",
  y: "bfhjquvx",
  z: "bcfgjlpqrvx",
};

const [smallA, smallZ, bigA, bigZ, space] = [97, 122, 65, 90, 32];
const letters = smallZ - smallA + 1;

const isRare = new Uint8Array(letters * letters);
for (const [first, seconds] of Object.entries(rarePairs))
  for (const second of seconds) isRare[indexOf(first.charCodeAt(0), second.charCodeAt(0))] = 1;

function indexOf(first: number, second: number): number {
  return (first - smallA) * letters + (second - smallA);
}

/** Of a letter within a word. In the languages that are written with these letters it is a fourth to a half. */
const perLetter = 0.6;
const perRarePair = 2;

const isSmall = (byte: number): boolean => byte >= smallA && byte <= smallZ;
const isBig = (byte: number): boolean => byte >= bigA && byte <= bigZ;

/**
 * More tokens than a text has, and about two thirds as many as it has bytes: digits, signs, capitals, line ends and the bytes of
 * other scripts may each be a token of their own, but letters come in words and spaces belong to what follows. Held
 * against vocabularies from 32,000 entries up, with prose in 20 languages, code, tables, keys, random letters and syllables. It may
 * exceed the number of bytes, which no text of a tokenizer does.
 */
export function tokenBound(text: string): number {
  const bytes = Buffer.from(text);
  let tokens = 0;
  let spaces = 0;
  let before = 0;
  for (const byte of bytes) {
    if (byte === space) spaces += 1;
    else {
      const isLetter = isSmall(byte) || isBig(byte);
      if (spaces > 0) tokens += spacesBound(spaces, isLetter);
      spaces = 0;
      const goesOn = isSmall(before) && isSmall(byte);
      tokens += goesOn ? perLetter + perRarePair * (isRare[indexOf(before, byte)] ?? 0) : 1;
    }
    before = byte;
  }
  return Math.ceil(tokens + spacesBound(spaces, false));
}

/** One before a word is part of it; many come in rows of up to sixteen. */
function spacesBound(count: number, beforeLetter: boolean): number {
  if (count <= 1) return beforeLetter ? 0 : count;
  return 1 + Math.ceil(count / 4);
}

/** Prose has four or five bytes a token, deeply indented code eight; only long rows of one character have more. */
const mostBytesPerToken = 20;
/** A provider may not count the JSON around the text of a short call. */
const freeBytes = 2_000;

/** The least tokens of so many bytes of text. A smaller report is no count, and would pass every budget. */
function leastTokens(textBytes: number): number {
  return Math.max(1, Math.floor((textBytes - freeBytes) / mostBytesPerToken));
}
