import { expect, test } from "vitest";
import { BoundedOutput } from "../../../src/workspace/supervise.ts";

function print(maxBytes: number, ...chunks: (string | Buffer)[]): BoundedOutput {
  const output = new BoundedOutput(maxBytes);
  for (const chunk of chunks) output.add(Buffer.from(chunk));
  return output;
}

test("output within the limit is kept unchanged", () => {
  const output = print(10, "01234", "56", "789");
  expect([output.text(), output.isTruncated]).toEqual(["0123456789", false]);
});

test("of what does not fit the beginning and the end stay, and a note says how much is missing", () => {
  const output = print(10, "beginning", " of a long text ", "and its end");
  expect(output.text()).toBe("begin\n[... 26 bytes left out ...]\ns end");
  expect(output.isTruncated).toBe(true);
});

test.each([1, 2, 3, 7, 64, 1000])("pieces of %i bytes give the same text as one piece", (size) => {
  const whole = Buffer.from(Array.from({ length: 997 }, (_, index) => 97 + (index % 26)));
  for (const max of [0, 1, 2, 99, 100, 996, 997, 5000]) {
    const pieces = Array.from({ length: Math.ceil(997 / size) }, (_, index) =>
      whole.subarray(index * size, index * size + size),
    );
    expect(print(max, ...pieces).text()).toBe(print(max, whole).text());
  }
});

test("a character cut in two leaves no rubbish", () => {
  const text = print(20, "€".repeat(20)).text();
  expect(text).toBe("€€€\n[... 40 bytes left out ...]\n€€€");
  expect(text.includes("\ufffd")).toBe(false);
});

test("a hundred megabytes take no more room than the limit", () => {
  const output = new BoundedOutput(1000);
  const chunk = Buffer.alloc(1024 * 1024, "x");
  for (let index = 0; index < 100; index += 1) output.add(chunk);
  expect(output.text().length).toBeLessThan(1100);
});
