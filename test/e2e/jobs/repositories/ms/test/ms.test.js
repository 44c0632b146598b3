import { describe, expect, test } from "vitest";
import ms from "../index.js";

describe("ms", () => {
  test("reads days", () => expect(ms("2 days")).toBe(172_800_000));
  test("reads hours", () => expect(ms("10h")).toBe(36_000_000));
  test("reads a number without a unit as milliseconds", () => expect(ms("100")).toBe(100));
  test("writes the short form", () => expect(ms(60_000)).toBe("1m"));
  test("writes the long form", () => expect(ms(120_000, { long: true })).toBe("2 minutes"));
});
