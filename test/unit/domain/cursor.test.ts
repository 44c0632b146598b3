import { expect, test } from "vitest";
import { comparePositions, type Position, readPosition, startPosition } from "../../../src/domain/cursor.ts";

test("positions are in the order of the numbers they stand for, also beyond 53 bits", () => {
  const inOrder = ["0", "9", "10", "11", "99", "100", "9007199254740993", "9007199254740994"] as Position[];
  expect(inOrder.toReversed().toSorted(comparePositions)).toEqual(inOrder);
  expect(comparePositions("10" as Position, "10" as Position)).toBe(0);
  expect(comparePositions(startPosition, "1" as Position)).toBeLessThan(0);
});

test.each(["", "-1", "1.5", "01", "1e3", " 1", "0x1", "1".repeat(19)])("%j is no position", (text) => {
  expect(readPosition(text)).toBeUndefined();
});

test.each(["0", "42", "9".repeat(18)])("%j is a position", (text) => {
  expect(readPosition(text)).toBe(text);
});
