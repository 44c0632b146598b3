import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { chainHash } from "../../../src/journal/journal-codec.ts";

const row = {
  seq: 7,
  epoch: 2,
  at: 1_790_000_000_000,
  kind: "step.function",
  attempt: 3,
  occurrence: 1,
  fingerprint: "f".repeat(32),
} as const;

/** As the format says it, with everything joined. */
const asWritten = (name: string | null, body: string) =>
  createHash("sha256")
    .update(
      `before\n7 2 1790000000000 step.function 3 1 ${row.fingerprint} ${name?.length ?? -1} ${name}\n${body}`,
    )
    .digest("base64url");

test.each([
  ["short", "fetch", '{"result":"x"}'],
  ["without a name", null, "{}"],
  ["of all planes", "ключ 🔑", '{"result":"é 漢 😀"}'],
  ["at the edge of what is put together in place", "n", "漢".repeat(21_700)],
  ["just too long for that", "n", "漢".repeat(21_900)],
  ["of few characters and many bytes", "n", "漢".repeat(60_000)],
  ["long", "n", "x".repeat(70_000)],
  ["long, with two units a character", "n".repeat(200), "😀".repeat(40_000)],
])("a row's hash is that of all its columns: %s", (_, name, body) => {
  expect(chainHash("before", { ...row, name, body })).toBe(asWritten(name, body));
});

test("a short row after a long one has nothing of it", () => {
  chainHash("before", { ...row, name: "n", body: "y".repeat(20_000) });
  expect(chainHash("before", { ...row, name: "n", body: "{}" })).toBe(asWritten("n", "{}"));
});

test.each([null, 5, new Uint8Array([0, 255])])("a body that is no text is hashed as well: %s", (body) => {
  expect(chainHash("before", { ...row, name: "n", body })).toBe(asWritten("n", String(body)));
});
