/**
 * Pairs of small letters, the second by the first, that one of the common tokenizers does not keep together. Words hardly
 * have any; a fourth of the pairs in random letters are such.
 */
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

/** Of a letter that goes on a word. In the languages that are written with these letters it is a fourth to a half. */
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
