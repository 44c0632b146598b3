import { expect, test } from "vitest";
import {
  idTime,
  isSessionId,
  newId,
  newSessionId,
  nextParts,
  parseSessionId,
} from "../../../src/domain/ids.ts";
import { newSeed, seededRandom } from "./seeded-random.ts";

test("100,000 ids are unique and increasing, also when the clock stands still or steps back", () => {
  const seed = newSeed();
  const random = seededRandom(seed);
  let now = Date.now();
  let last = "";
  const wrong: string[] = [];
  for (let count = 0; count < 100_000; count += 1) {
    if (random() < 0.01) now += Math.floor(random() * 100) - 60;
    const id = newId(now);
    if (id <= last) wrong.push(`${id} follows ${last}`);
    last = id;
  }
  expect(wrong, `seed ${seed}`).toEqual([]);
});

test("an id carries its time", () => {
  const future = Date.now() + 1_000_000;
  expect(idTime(newId(future))).toBe(future);
  expect(newId(future)).toMatch(/^[0-7][0-9a-hjkmnp-tv-z]{25}$/);
});

test("the random part that runs over moves to the next millisecond", () => {
  const max = 2 ** 40 - 1;
  expect(nextParts({ timeMs: 5, high: 1, low: max }, 5, () => 7)).toEqual({ timeMs: 5, high: 2, low: 0 });
  expect(nextParts({ timeMs: 5, high: max, low: max }, 4, () => 7)).toEqual({ timeMs: 6, high: 7, low: 7 });
});

test("a time that an id cannot carry is refused", () => {
  for (const now of [-1, Number.NaN, 2 ** 48, Number.POSITIVE_INFINITY])
    expect(() => newId(now)).toThrow(/clock|time/);
});

test("nothing but a session id passes for one", () => {
  const id = newSessionId();
  expect(parseSessionId(id)).toBe(id);
  const wrong = [
    "",
    "../x",
    `${id}/..`,
    `${id}\n`,
    ` ${id}`,
    id.slice(1),
    `8${id.slice(1)}`,
    `${id.slice(1)}u`,
  ];
  for (const text of [...wrong, id.toUpperCase(), `${id.slice(0, 25)}\0`, "x".repeat(1_000_000)]) {
    expect(isSessionId(text)).toBe(false);
    expect(() => parseSessionId(text)).toThrow("is not a session id");
  }
});
