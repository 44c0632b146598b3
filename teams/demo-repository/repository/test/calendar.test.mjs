import assert from "node:assert/strict";
import { test } from "node:test";
import { daysInMonth, isLeapYear } from "../src/calendar.mjs";

test("every fourth year is a leap year", () => {
  assert.equal(isLeapYear(2024), true);
  assert.equal(isLeapYear(2023), false);
});

test("a century is a leap year only when 400 divides it", () => {
  assert.equal(isLeapYear(2000), true);
  assert.equal(isLeapYear(1900), false);
});

test("months have 30 or 31 days", () => {
  assert.equal(daysInMonth(2023, 4), 30);
  assert.equal(daysInMonth(2023, 12), 31);
});

test("a month outside of the year is refused", () => {
  assert.throws(() => daysInMonth(2023, 13), RangeError);
});
