import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const library = join(import.meta.dirname, "../../dist/index.js");

/** The loaded files decide how soon a session resumes after a crash; unlike time, they are the same on a busy machine. */
const listLoaded = `
  import { registerHooks } from "node:module";
  const urls = [];
  registerHooks({ load(url, context, next) { urls.push(url); return next(url, context); } });
  await import(process.argv[1]);
  console.log(JSON.stringify(urls.filter((url) => url.startsWith("file:"))));`;

test("a program with the library loads a few large files, all in ASCII, and no package", () => {
  const args = ["--input-type=module", "--eval", listLoaded, library];
  const urls = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as string[];
  expect(urls.filter((url) => url.includes("/node_modules/"))).toEqual([]);
  expect(urls.map((url) => url.replace(/.*\/dist\//, "").replace(/-[\w-]{8}\.js$/, ".js")).sort()).toEqual([
    "chunks/base.js",
    "chunks/configuration.js",
    "chunks/explanation.js",
    "chunks/library.js",
    "chunks/looking.js",
    "chunks/rolldown-runtime.js",
    "index.js",
  ]);
  // One character beyond Latin-1 would double the memory of its file.
  for (const url of urls) expect(readFileSync(new URL(url), "latin1")).not.toMatch(/[\x80-\xff]/);
});
