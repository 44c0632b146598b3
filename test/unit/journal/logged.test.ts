import { expect, test } from "vitest";
import { loggedOf, sentenceOf } from "../../../src/journal/facts.ts";

test("a log says that a person left a note, without its text", () => {
  const noted = { kind: "session.noted", note: "canary4c1d8e" } as const;
  expect(sentenceOf(noted)).toContain("canary4c1d8e");
  expect(loggedOf(noted)).toBe("a person left a note");
});
