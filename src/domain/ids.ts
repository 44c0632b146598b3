import { randomBytes } from "node:crypto";
import { advise } from "./advice.ts";
import { InputInvalid } from "./errors.ts";

/** Commands accept prefixes of a session's id from this length on. */
export const leastIdPrefix = 4;

export type SessionId = string & { readonly __brand: "SessionId" };

/** 48 bits of time and 80 random bits, the latter in two halves that fit a JavaScript number exactly. */
export interface IdParts {
  readonly timeMs: number;
  readonly high: number;
  readonly low: number;
}

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const form = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;
const maxTimeMs = 2 ** 48 - 1;
const maxHalf = 2 ** 40 - 1;

let last: IdParts = { timeMs: -1, high: 0, low: 0 };

/** 26 characters that sort by time, strictly increasing within a process whatever the clock does. */
export function newId(now: number = Date.now()): string {
  const timeMs = Math.trunc(now);
  if (!(timeMs >= 0 && timeMs <= maxTimeMs)) {
    throw new InputInvalid(`an id cannot carry the time ${now}`, {
      advice: "Check the system clock.",
      details: { now },
    });
  }
  last = nextParts(last, timeMs, randomHalf);
  return encode(last.timeMs, 10) + encode(last.high, 8) + encode(last.low, 8);
}

/** Within one millisecond, or after the clock was set back, increments the last id. */
export function nextParts(last: IdParts, timeMs: number, random: () => number): IdParts {
  if (timeMs > last.timeMs) return { timeMs, high: random(), low: random() };
  if (last.low < maxHalf) return { ...last, low: last.low + 1 };
  if (last.high < maxHalf) return { ...last, high: last.high + 1, low: 0 };
  return { timeMs: last.timeMs + 1, high: random(), low: random() };
}

export const newSessionId = (now?: number): SessionId => newId(now) as SessionId;

export const isSessionId = (text: string): text is SessionId => form.test(text);

/** Session ids become directory names, so nothing else is accepted, and `../x` never reaches a path. */
export function parseSessionId(text: string): SessionId {
  if (isSessionId(text)) return text;
  throw new InputInvalid(`${JSON.stringify(text.slice(0, 100))} is not a session id`, {
    advice: advise("A session id has 26 digits and lowercase letters. List the sessions", "sessions"),
  });
}

export function idTime(id: string): number {
  let timeMs = 0;
  for (const character of id.slice(0, 10)) timeMs = timeMs * 32 + alphabet.indexOf(character);
  return timeMs;
}

const randomHalf = (): number => randomBytes(5).readUIntBE(0, 5);

function encode(value: number, length: number): string {
  let text = "";
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32))
    text = alphabet[rest % 32] + text;
  return text;
}
