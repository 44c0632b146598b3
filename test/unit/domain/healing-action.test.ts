import { describe, expect, test } from "vitest";
import { type HealingAction, inWords, settingsOf } from "../../../src/domain/healing-action.ts";
import type { RecordedRow } from "../../../src/journal/journal.ts";
import { decodeTransition } from "../../../src/journal/journal-codec.ts";

const limit = "timeoutMs";
const actions: readonly [HealingAction, string, object | undefined][] = [
  [{ kind: "edited-files", paths: ["a", "b"] }, "edited a, b", undefined],
  [{ kind: "edited-files", paths: [] }, "edited nothing", undefined],
  [
    { kind: "edited-files", paths: ["a", "b", "c", "d", "e", "f"], more: 9 },
    "edited a, b, c, d, e and 10 more",
    undefined,
  ],
  [
    { kind: "ran-tool", argv: ["npm", "run", "fix"], paths: ["a"] },
    "ran npm run fix, which changed a",
    undefined,
  ],
  [
    { kind: "installed-dependency", name: "@a/b", version: "1.2.3", paths: ["node_modules/@a/b/c"], more: 2 },
    "installed @a/b@1.2.3: node_modules/@a/b/c and 2 more",
    undefined,
  ],
  [
    { kind: "fixed-imports", imports: [{ path: "a.ts", from: "./x", to: "./lib/x.ts" }] },
    "pointed imports to files that exist: ./x in a.ts is ./lib/x.ts",
    undefined,
  ],
  [
    { kind: "repaired-outputs", members: ["tables"] },
    "put the outputs into the form of the contract's schema: tables",
    undefined,
  ],
  [
    { kind: "shortened-context", from: 1, to: 0.5 },
    "keep 50 % of the earlier results in the prompt",
    { contextShare: 0.5 },
  ],
  [{ kind: "switched-model", from: "a/b", to: "c/d" }, "continue with c/d instead of a/b", { model: "c/d" }],
  [
    { kind: "raised-limit", limit, from: 60_000, to: 90_500 },
    "let the next attempt stand still for 90.5 s instead of 60 s",
    { timeoutMs: 90_500 },
  ],
  [
    { kind: "raised-limit", limit: "maxOutputTokens", from: 500, to: 1000 },
    "let answers have 1000 tokens instead of 500",
    { maxOutputTokens: 1000 },
  ],
  [
    {
      kind: "custom",
      words: "slept on it",
      paths: [],
      members: [],
      settings: { from: {}, to: { model: "c/d" } },
    },
    "slept on it",
    { model: "c/d" },
  ],
];

describe("the recorded action of a healer", () => {
  test.each(actions)(
    "%j is said in words, and says how the next attempt works",
    (action, words, settings) => {
      expect(inWords(action)).toBe(words);
      expect(settingsOf(action)).toEqual(settings);
    },
  );
});

const row = (kind: string, body: object) => ({ kind, body: JSON.stringify(body) }) as RecordedRow;
const said = { healer: "fix-imports", action: "pointed ./a to ./b", outcome: "passed" };
const did = { kind: "custom", words: "pointed ./a to ./b", paths: [], members: [] };

describe("a journal of before there were kinds of actions", () => {
  test("a plain text is read as a described action", () => {
    expect(decodeTransition(row("attempt.completed", { healed: said, healing: [said] }))).toEqual({
      kind: "attempt.completed",
      healed: { ...said, did },
      healing: [{ ...said, did }],
    });
    expect(decodeTransition(row("attempt.failed", { healing: [said] }))).toMatchObject({
      healing: [{ ...said, did }],
    });
  });

  test("gets nothing that it has not", () => {
    expect(decodeTransition(row("attempt.completed", {}))).toEqual({ kind: "attempt.completed" });
    const known = { ...said, did: { kind: "edited-files", paths: ["a"] } };
    expect(decodeTransition(row("attempt.failed", { healing: [known] }))).toMatchObject({ healing: [known] });
  });
});
