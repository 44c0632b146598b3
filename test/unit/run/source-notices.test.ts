import { expect, test } from "vitest";
import { sourceNotices } from "../../../src/run/acts/read-source.ts";

const upload = { id: "u", format: "zip", bytes: 1, sha256: "0".repeat(64) } as const;
const said = (leftOut: readonly { readonly path: string; readonly reason: string }[]) =>
  sourceNotices({ upload, tree: "0".repeat(64), leftOut })[1];

test("files that were left out are named by reason, so that many of one kind do not hide the only one of another", () => {
  const keys = Array.from({ length: 30 }, (_, number) => ({
    path: `keys/${number}.pem`,
    reason: "its name says that it holds secrets",
  }));
  const found = { path: "src/settings.ts", reason: "it holds a GitHub token" };
  expect(said([...keys, found])).toBe(
    'Left out: "keys/0.pem", "keys/1.pem", "keys/2.pem", "keys/3.pem", "keys/4.pem" and 25 more (its name says that it holds secrets); "src/settings.ts" (it holds a GitHub token). The personas do not see them, and they stay unchanged.',
  );
});

test("of many reasons the notice has the first ones and counts the rest of the files", () => {
  const files = Array.from({ length: 12 }, (_, number) => ({
    path: `${number}`,
    reason: `reason ${number}`,
  }));
  expect(said(files)).toContain('"9" (reason 9) and 2 more. The personas');
});
