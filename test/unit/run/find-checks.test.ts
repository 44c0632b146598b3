import { expect, test } from "vitest";
import { findChecks } from "../../../src/run/setup/find-checks.ts";

/** The checks of a repository with these files, as lines. */
function checksOf(files: Readonly<Record<string, string>>): readonly string[] {
  const found = findChecks({
    has: (path) => path in files,
    text: (path) => files[path],
    paths: Object.keys(files),
  });
  return found.map(({ name, run }) => `${name}: ${run.join(" ")}`);
}

const scripts = (of: Readonly<Record<string, string>>): string => JSON.stringify({ scripts: of });

test("the scripts of a package become its checks, by the names that packages use", () => {
  const text = scripts({
    test: "tape test/*.js",
    lint: "eslint .",
    typecheck: "tsc",
    build: "vite build",
    dev: "vite",
  });
  expect(checksOf({ "package.json": text })).toEqual([
    "test: npm test",
    "lint: npm run lint",
    "types: npm run typecheck",
    "build: npm run build",
  ]);
});

test.each([
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["package-lock.json", "npm"],
])("a package with %s is tested by %s", (lockfile, manager) => {
  const files = { "package.json": scripts({ test: "node --test", lint: "eslint" }), [lockfile]: "" };
  expect(checksOf(files)).toEqual([`test: ${manager} test`, `lint: ${manager} run lint`]);
});

test("a runner gets the option to name every test, unless the script is more than one command", () => {
  expect(checksOf({ "package.json": scripts({ test: "vitest run" }) })).toEqual([
    "test: npm test -- --reporter=verbose",
  ]);
  expect(checksOf({ "package.json": scripts({ test: "jest" }), "yarn.lock": "" })).toEqual([
    "test: yarn test --verbose",
  ]);
  expect(checksOf({ "package.json": scripts({ test: "jest && eslint ." }) })).toEqual(["test: npm test"]);
});

test.each([
  [
    "the script that npm writes into a package without tests",
    scripts({ test: 'echo "Error: no test specified" && exit 1' }),
  ],
  ["scripts that are no texts", JSON.stringify({ scripts: { test: 1, lint: null } })],
  ["a manifest without scripts", "{}"],
  ["a manifest that is a list", "[]"],
  ["a damaged manifest", "{"],
])("%s gives no check", (_, text) => {
  expect(checksOf({ "package.json": text })).toEqual([]);
});

test("Python is checked by pytest, ruff and mypy where the repository has them", () => {
  const pyproject = "[tool.ruff]\nline-length = 100\n[tool.mypy]\nstrict = true\n";
  expect(checksOf({ "pyproject.toml": pyproject, "tests/test_dates.py": "", "uv.lock": "" })).toEqual([
    "test: .venv/bin/python -m pytest -v",
    "lint: .venv/bin/python -m ruff check",
    "types: .venv/bin/python -m mypy .",
  ]);
  expect(checksOf({ "test_dates.py": "" })).toEqual(["test: python3 -m pytest -v"]);
  expect(checksOf({ "contest.py": "" })).toEqual([]);
});

test("Go, Rust and Maven are checked by their own tools", () => {
  expect(checksOf({ "go.mod": "" })[0]).toBe("test: go test -v ./...");
  expect(checksOf({ "Cargo.toml": "", "Cargo.lock": "" })).toEqual([
    "test: cargo test --offline",
    "build: cargo build --offline",
  ]);
  expect(checksOf({ "pom.xml": "" })).toEqual(["test: mvn -B -o test"]);
});

test("two languages with a check of one name keep both", () => {
  const files = { "package.json": scripts({ test: "node --test", lint: "eslint" }), "Cargo.toml": "" };
  expect(checksOf(files)).toEqual([
    "node-test: npm test",
    "lint: npm run lint",
    "rust-test: cargo test",
    "build: cargo build",
  ]);
});
