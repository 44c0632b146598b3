import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const css = readFileSync(join(import.meta.dirname, "../../../dashboard/src/styles/tokens.css"), "utf8");

function tokensOf(selector: string): Map<string, string> {
  const from = css.indexOf(`${selector} {`);
  const block = css.slice(from, css.indexOf("}", from));
  return new Map(
    [...block.matchAll(/--([\w-]+):\s*(#[0-9a-fA-F]{6})/g)].map(([, name = "", value = ""]) => [name, value]),
  );
}

const linear = (channel: number) => {
  const value = channel / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
};

function luminance(hex: string): number {
  const value = Number.parseInt(hex.slice(1), 16);
  return 0.2126 * linear(value >> 16) + 0.7152 * linear((value >> 8) & 255) + 0.0722 * linear(value & 255);
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

const backgrounds = ["canvas", "surface", "sunken", "hover", "selected"];
const statuses = ["running", "completed", "failed", "parked", "reused"];

/** Text needs 4.5, shapes and borders of controls 3: WCAG 2.2 AA, over every background on which they stand. */
const pairs: readonly (readonly [front: string, backs: readonly string[], least: number])[] = [
  ...["ink", "ink-2", "ink-3", "quiet"].map((front) => [front, backgrounds, 4.5] as const),
  ...statuses.map((front) => [front, [...backgrounds, `${front}-tint`], 4.5] as const),
  ["ink", ["add-tint", "del-tint", ...statuses.map((status) => `${status}-tint`)], 4.5],
  ["ink-2", ["add-tint", "del-tint", ...statuses.map((status) => `${status}-tint`)], 4.5],
  ["add", [...backgrounds, "add-tint"], 4.5],
  ["del", [...backgrounds, "del-tint"], 4.5],
  ["on-primary", ["primary", "ink-2"], 4.5],
  ["control", ["canvas", "surface"], 3],
  ["focus", ["canvas", "surface", "sunken"], 3],
  ["bar", ["canvas", "surface", "selected"], 3],
];

describe.each([
  ["light", ":root"],
  ["dark", '[data-theme="dark"]'],
])("%s", (_theme, selector) => {
  const tokens = tokensOf(selector);

  test.each(pairs)("%s can be read on %j", (front, backs, least) => {
    const color = (name: string) => tokens.get(name) ?? "missing";
    const ratios = backs.map((back) => ({ back, ratio: contrast(color(front), color(back)) }));
    expect(ratios.filter(({ ratio }) => !(ratio >= least))).toEqual([]);
  });
});
