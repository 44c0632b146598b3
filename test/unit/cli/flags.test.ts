import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readEdits, readGiven, readPairs } from "../../../src/cli/read-edit.ts";
import { readDollars, readList, readSince, readTokens } from "../../../src/cli/read-flags.ts";
import { quote } from "../../../src/domain/advice.ts";

const folder = mkdtempSync(join(tmpdir(), "maestro-flags-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, content: string | Buffer): string => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};

test.each([
  ["200000", 200_000],
  ["200_000", 200_000],
  ["1,000,000", 1_000_000],
  ["50k", 50_000],
  ["1.5M", 1_500_000],
])("%s tokens are %d", (text, tokens) => expect(readTokens("--tokens", text)).toBe(tokens));

test.each(["", "0", "-5", "1.5", "abc", "1e99", "5x", "Infinity", "0x10"])(
  "%j is no number of tokens",
  (text) => expect(() => readTokens("--tokens", text)).toThrow(/--tokens is/),
);

test.each(["", "0", "-1", "1e3", "NaN", "1.2.3", "2000000"])("%j is no amount of dollars", (text) =>
  expect(() => readDollars("--usd", text)).toThrow(/--usd is/),
);

test("a time is a day or how long back", () => {
  const now = Date.UTC(2030, 0, 10);
  expect(readSince("--since", "7d", now)).toBe(Date.UTC(2030, 0, 3));
  expect(readSince("--since", "2030-01-01", now)).toBe(Date.UTC(2030, 0, 1));
  expect(() => readSince("--since", "2030-13-45", now)).toThrow(/--since is/);
  expect(() => readSince("--since", "soon", now)).toThrow(/--since is/);
});

test("a list is what stands between commas", () => {
  expect(readList("--only", " a, b ,,c")).toEqual(["a", "b", "c"]);
  expect(() => readList("--only", " , ")).toThrow("--only is empty.");
  expect(() => readList("--only", "")).toThrow("--only is empty.");
  expect(readList("--only", undefined)).toBeUndefined();
});

test.each(["phase", "=x", "phase=", ""])("%j is no pair", (pair) =>
  expect(() => readPairs("--given", [pair])).toThrow(/Write|--given is/),
);

test("a path may contain =; a phase is given once", () => {
  expect(readPairs("--given", ["a=b=c"])).toEqual([["a", "b=c"]]);
  expect(() => readPairs("--given", ["a=1", "a=2"])).toThrow(/twice for phase a/);
});

describe("a phase from outside", () => {
  test("is a folder with all its files, without what no phase hands on", async () => {
    const given = join(folder, "given");
    mkdirSync(join(given, "docs"), { recursive: true });
    mkdirSync(join(given, "node_modules/x"), { recursive: true });
    mkdirSync(join(given, ".git"), { recursive: true });
    writeFileSync(join(given, "docs/a.md"), "# a\n");
    writeFileSync(join(given, "docs/a.png"), Buffer.from([0x89, 0xff, 0x00]));
    writeFileSync(join(given, "node_modules/x/index.js"), "no");
    writeFileSync(join(given, ".git/config"), "no");
    symlinkSync("/etc/passwd", join(given, "link"));
    expect(await readGiven([`design=${given}`])).toEqual({
      design: {
        files: { "docs/a.md": Buffer.from("# a\n"), "docs/a.png": Buffer.from([0x89, 0xff, 0x00]) },
        origin: given,
      },
    });
  });

  test("is a file under its own name, or JSON with outputs and files", async () => {
    const text = file("brief.md", "# b\n");
    const edit = file("edit.json", '{"outputs": {"n": 1}, "files": {"x": "y", "gone": null}}');
    const other = file("package.json", '{"name": "x"}');
    expect(await readGiven([`a=${text}`, `b=${edit}`, `c=${other}`])).toEqual({
      a: { files: { "brief.md": Buffer.from("# b\n") }, origin: text },
      b: { outputs: { n: 1 }, files: { x: "y", gone: null }, origin: edit },
      c: { files: { "package.json": '{"name": "x"}' }, origin: other },
    });
  });

  test.each([
    ["no such file", () => join(folder, "missing"), /cannot be read/],
    ["JSON that is no text", () => file("binary.json", Buffer.from([0xff, 0xfe, 0x00])), /is not text/],
  ])("%s is refused", async (_, path, message) => {
    await expect(readGiven([`a=${path()}`])).rejects.toThrow(message);
  });
});

describe("an edit", () => {
  test.each([
    ["{", /is not valid JSON/],
    ["[]", /is not an edit/],
    ["{}", /is not an edit/],
    ['{"outputs": [], "files": {}}', /outputs are not an object/],
    ['{"files": {"a": 1}}', /files are not texts/],
    ['{"file": {}}', /is not an edit/],
    ['{"__proto__": {"x": 1}, "files": {}}', /wrong\.json/],
  ])("%s is refused, and the shape that is right is said", async (content, message) => {
    const refused = readEdits([`a=${file("wrong.json", content)}`], async () => ["docs/a.md"]);
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toMatchObject({
      message: expect.not.stringMatching(/wrong\.json.*wrong\.json/) as string,
      advice: expect.stringContaining('"files": {"path": "content"}') as string,
    });
  });

  test("is a file of the session, found by its path or its name; a folder; or JSON", async () => {
    const paths = async () => ["docs/a.md", "b/a.md", "docs/only.md", "package.json"];
    mkdirSync(join(folder, "out/docs"), { recursive: true });
    const edits = await readEdits(
      [
        `byPath=${file("out/docs/a.md", "# path\n")}`,
        `byName=${file("only.md", "# name\n")}`,
        `json=${file("package.json", "{}")}`,
        `folder=${join(folder, "out")}`,
      ],
      paths,
    );
    expect(edits).toEqual({
      byPath: { files: { "docs/a.md": Buffer.from("# path\n") } },
      byName: { files: { "docs/only.md": Buffer.from("# name\n") } },
      json: { files: { "package.json": Buffer.from("{}") } },
      folder: { files: { "docs/a.md": Buffer.from("# path\n") } },
    });
    await expect(readEdits([`x=${file("a.md", "")}`], paths)).rejects.toMatchObject({
      message: expect.stringContaining("no file of the session has its name") as string,
      advice: expect.stringContaining("docs/a.md, b/a.md") as string,
    });
  });
});

test("a shell reads a printed command back unchanged", () => {
  expect(["plain-1", "a b", "it's", "$(rm)", ""].map(quote)).toEqual([
    "plain-1",
    "'a b'",
    "'it'\\''s'",
    "'$(rm)'",
    "''",
  ]);
});
