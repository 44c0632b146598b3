import { expect, test } from "vitest";
import { tokenBound } from "../../../src/personas/model/count-input.ts";
import { processorMs } from "../../support/processor-time.ts";

/** Tokens in a vocabulary of 32,000 entries that keeps no two digits together: the most of those in use. */
const counted: readonly (readonly [string, string, number])[] = [
  [
    "prose",
    "The session goes on from the last recorded step, whatever was killed and whenever. What was paid for is never asked again, and a budget that was set is kept, across personas and processes.",
    39,
  ],
  [
    "code",
    "export function reserve(limit: number, used: number): boolean {\n  const left = limit - used;\n  if (left <= 0) return false;\n  return waiting.every(({ asked }) => asked <= left);\n}\n",
    53,
  ],
  [
    "deep code",
    "            return [\n                    first,\n                    second,\n            ];\n",
    17,
  ],
  [
    "a language that it knows little of",
    "Ezkerreko, eskuineko edo erdiko justifikazioa duen testua, lerro bakoitzaren hasieran eta amaieran",
    40,
  ],
  [
    "a table",
    "2026-11-16,1289.55,0.0031,77120\n2026-11-17,1301.20,0.0029,80344\n2026-11-18,1299.99,0.0040,79001\n",
    96,
  ],
  ["a hash", "5c281c03bf8fc32129ffc7368587119dd2d0a9cab3a2639d041f2a5e7efb", 55],
  ["base64", "aGVsbG8gd29ybGQsIHRoaXMgaXMgYSB0ZXN0IG9mIGJhc2U2NCB0ZXh0IGFuZCBpdHMgdG9rZW5z", 65],
  ["random letters", "xqzjkvwptb gmhvqkzl wjxfpvnq zrtkbghq vwxjqzpl", 32],
  [
    "syllables without end",
    "vejevabajaxajacavecebehexebecehevajazujivoxofazigebulodovuxajekozevihofujaboxe",
    38,
  ],
  ["few letters", "wawabawasabasawabababawawawawawasasa", 18],
  ["another script", "每个步骤只执行一次，并且被永久记录。预算在调用之前被保留。", 42],
  ["pictures", "😀🦀👩‍👩‍👧‍👦🇩🇪", 36],
];

test.each(counted)("%s has no more tokens than its bound", (_, text, tokens) => {
  expect(tokenBound(text)).toBeGreaterThanOrEqual(tokens);
});

test.each(counted.slice(0, 4))("%s is bounded far below its bytes", (_, text) => {
  expect(tokenBound(text)).toBeLessThan(Buffer.byteLength(text) * 0.75);
});

test("a text added to a prompt counts at least as much as it does alone", () => {
  for (const [, one] of counted)
    for (const [, other] of counted)
      expect(tokenBound(`${one}"${other}`) - tokenBound(one)).toBeGreaterThanOrEqual(tokenBound(other) - 1);
});

test("nothing at all has no tokens, and a megabyte is bounded at once", () => {
  expect(tokenBound("")).toBe(0);
  expect(processorMs(() => void tokenBound("a b".repeat(350_000)))).toBeLessThan(1_000);
});
