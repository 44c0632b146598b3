import { expect, test } from "vitest";
import { findSetups, inputNames } from "../../../src/team/find-setup.ts";

const found = (...paths: readonly string[]) =>
  findSetups(new Set(paths)).map(({ run, because, folder, keep }) => [
    run.join(" "),
    because,
    folder,
    ...keep,
  ]);

test("a lockfile in a folder gives a setup of that folder", () => {
  const paths = ["web/package.json", "web/package-lock.json", "apps/api/requirements.txt", "README.md"];
  expect(found(...paths)).toEqual([
    ["npm ci", "web/package-lock.json", "web", "web/**/node_modules"],
    [
      "sh -c python3 -m venv .venv && .venv/bin/pip install -r requirements.txt",
      "apps/api/requirements.txt",
      "apps/api",
      "apps/api/.venv",
    ],
  ]);
  const [web] = findSetups(new Set(paths));
  expect(web && inputNames(web)).toEqual([
    "web/package-lock.json",
    "web/package.json",
    "web/**/package.json",
    "web/.npmrc",
  ]);
});

test("the lockfile of the top folder is the only one of its language", () => {
  expect(found("package-lock.json", "web/package-lock.json", "api/go.sum")).toEqual([
    ["npm ci", "package-lock.json", undefined, "**/node_modules"],
    ["go mod download", "api/go.sum", "api", "~/go/pkg/mod"],
  ]);
});

test.each([
  ["test/fixtures/package-lock.json"],
  ["examples/package-lock.json"],
  ["web/node_modules/package-lock.json"],
  [".github/package-lock.json"],
  ["docs/package-lock.json"],
  ["a/b/c/package-lock.json"],
])("a lockfile that is not of the work gives no setup: %s", (path) => {
  expect(found(path)).toEqual([]);
});

test("of two folders whose packages are kept in the same place of the home, neither is prepared", () => {
  expect(found("one/go.sum", "two/go.sum", "one/package-lock.json", "two/package-lock.json")).toEqual([
    ["npm ci", "one/package-lock.json", "one", "one/**/node_modules"],
    ["npm ci", "two/package-lock.json", "two", "two/**/node_modules"],
  ]);
});
