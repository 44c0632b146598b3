import { expect, test } from "vitest";
import { canonicalJson, sha256 } from "../../../src/domain/canonical.ts";
import { CheckpointCorrupt } from "../../../src/domain/errors.ts";
import { isJsonObject, parseJson } from "../../../src/domain/json.ts";
import { seal, sealedLimitBytes, unseal } from "../../../src/journal/seal.ts";
import { newSeed, randomJson, seededRandom } from "../domain/seeded-random.ts";

const sample = {
  version: 1,
  phase: "build",
  text: 'é"\\\n\u{1f600}',
  usage: { tokens: 12, usd: 0.5 },
  list: [null, true],
};

function damage(text: string | Uint8Array): unknown {
  try {
    unseal(text, "checkpoint_build.json");
  } catch (error) {
    if (error instanceof CheckpointCorrupt) return error.details.why;
    throw error;
  }
  return undefined;
}

test("a sealed document reads back as its content", () => {
  const seed = newSeed();
  const random = seededRandom(seed);
  for (let count = 0; count < 300; count += 1) {
    const content = randomJson(random, 5);
    if (!isJsonObject(content)) continue;
    const text = seal(content);
    const opened = unseal(count % 2 ? text : Buffer.from(text), "x");
    expect(canonicalJson(opened.content), `seed ${seed}`).toBe(canonicalJson(content));
    expect(opened.sha256).toBe(sha256(canonicalJson(content)));
  }
});

test("every flipped byte is detected", () => {
  const bytes = Buffer.from(seal(sample));
  const missed: string[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    for (const mask of [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff]) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ mask;
      if (damage(flipped) === undefined) missed.push(`byte ${at}, mask ${mask}`);
    }
  }
  expect(missed).toEqual([]);
});

test("every truncation and every addition is detected", () => {
  const text = seal(sample);
  const bytes = Buffer.from(text);
  const missed: number[] = [];
  for (let length = 0; length < bytes.length; length += 1) {
    if (damage(bytes.subarray(0, length)) === undefined) missed.push(length);
  }
  expect(missed).toEqual([]);
  for (const changed of [`${text}\n`, ` ${text}`, `\ufeff${text}`, text + text, `${text}\0`]) {
    expect(damage(changed)).toBeDefined();
    expect(damage(Buffer.from(changed))).toBeDefined();
  }
});

test("the error says why a document is damaged", () => {
  const text = seal(sample);
  expect(damage("{")).toBe("not JSON");
  expect(damage("[1]")).toBe("not JSON");
  expect(damage(new Uint8Array([0xff]))).toBe("not JSON");
  expect(damage(`${text}\n`)).toBe("not canonical");
  expect(damage(JSON.stringify(parseJson(text), undefined, 2))).toBe("not canonical");
  expect(damage(text.replace("build", "bui1d"))).toBe("seal does not match");
  expect(damage("{}")).toBe("seal does not match");
  expect(damage(new Uint8Array(sealedLimitBytes + 1))).toBe("too large");
  expect(damage("[".repeat(10_000))).toBe("too large");
});

test("what could not be read back is not sealed", () => {
  expect(() => seal({ sha256: "x" })).toThrow("sha256 already");
  expect(() => seal({ text: "x".repeat(sealedLimitBytes) })).toThrow("over the limit");
});
