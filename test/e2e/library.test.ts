import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

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

const runBoth = `
  const { defineTeam, open, persona, phase } = await import(process.argv[2]);
  const personas = [
    persona("model", { instructions: "Work." }),
    persona("function", { run: async ({ step }) => ({ summary: await step("a", () => "done") }) }),
  ];
  const team = defineTeam("both", { model: "simulated", phases: [phase("only", { personas })] });
  const maestro = await open({ stateDir: process.argv[3] });
  const { status } = await (await maestro.start(team, { brief: "b" })).result();
  await maestro.close();
  if (status !== "completed") throw new Error(status);`;

test("a model persona and a function of the program's own load nothing of what isolates functions", () => {
  const folder = mkdtempSync(join(tmpdir(), "maestro-loaded-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, "program.mjs");
  writeFileSync(program, listLoaded.replace("await import(process.argv[1]);", runBoth));
  const args = [program, library, join(folder, "state")];
  const urls = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as string[];
  const isolates = (file: string) => file.includes("/chunks/run-in-child-");
  const built = readdirSync(join(library, "../chunks")).map((file) => `/chunks/${file}`);
  expect(built.filter(isolates)).toHaveLength(1);
  expect(urls.length).toBeGreaterThan(7);
  expect(urls.filter(isolates)).toEqual([]);
});
