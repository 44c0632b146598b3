import type { Json } from "../../../src/domain/json.ts";

/** Mulberry32: the same numbers for the same seed, so that a failure can be repeated. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const newSeed = (): number => Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 32));

const texts = [
  "",
  "a",
  "é",
  "\ud800",
  "😀",
  '"',
  "\\",
  "\n",
  "\u2028",
  "__proto__",
  "constructor",
  "10",
  "9",
  "sha",
];

export function randomJson(random: () => number, depth = 4): Json {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const kind = Math.floor(random() * (depth > 0 ? 7 : 5));
  if (kind === 0) return pick([null, true, false]);
  if (kind === 1) return pick([0, -0, 1e21, 1e-7, 0.1, -1.5, Number.MAX_SAFE_INTEGER, 5e-324]);
  if (kind === 2) return Math.floor(random() * 1e9);
  if (kind <= 4) return pick(texts) + pick(texts);
  const size = Math.floor(random() * 5);
  if (kind === 5) return Array.from({ length: size }, () => randomJson(random, depth - 1));
  return Object.fromEntries(Array.from({ length: size }, () => [pick(texts), randomJson(random, depth - 1)]));
}
