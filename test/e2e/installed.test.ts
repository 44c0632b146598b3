import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { endings } from "./support/examples.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "maestro-installed-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const installed = join(folder, "node_modules/maestro-hive");
const env = { ...process.env, MAESTRO_STATE_DIR: join(folder, "state") };
install();

/** A project from `npm init -y` with only the packed tarball and its dependencies. */
function install(): void {
  const npm = (...args: readonly string[]): string =>
    execFileSync("npm", [...args, "--silent", "--prefer-offline", "--no-audit", "--no-fund"], {
      cwd: folder,
      encoding: "utf8",
    });
  // Without scripts: packing would build again, while other tests use the build.
  npm("pack", root, "--ignore-scripts");
  const [tarball = ""] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  writeFileSync(join(folder, "package.json"), '{ "name": "empty", "private": true, "type": "commonjs" }');
  npm("install", `./${tarball}`);
}

const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, args, { cwd: folder, env, encoding: "utf8" });

test("the package contains its documentation and no compiler", () => {
  expect(existsSync(join(folder, "node_modules/typescript"))).toBe(false);
  expect(readdirSync(join(installed, "docs"))).toEqual(expect.arrayContaining(["cli.md", "guarantees.md"]));
});

test("maestro-hive and maestro are the same command, which runs the demo", () => {
  const version = run("node_modules/.bin/maestro", "--version");
  expect(run("node_modules/.bin/maestro-hive", "--version")).toMatchObject({
    status: 0,
    stdout: version.stdout,
  });
  const demo = run("node_modules/.bin/maestro-hive", "demo", "--json", "--out", "demo");
  expect(demo).toMatchObject({ status: 0 });
  expect(JSON.parse(demo.stdout)).toMatchObject({ status: "completed", checkpoints: 6 });
  expect(readdirSync(join(folder, "demo/project"))).toContain("package.json");
});

test("npx maestro-hive runs the installed command, and the commands it prints begin the same way", () => {
  const told = spawnSync("npx", ["--offline", "maestro-hive", "sessions"], {
    cwd: folder,
    env: { ...env, MAESTRO_STATE_DIR: join(folder, "empty") },
    encoding: "utf8",
  });
  expect(told).toMatchObject({ status: 0 });
  expect(told.stderr).toContain("npx maestro-hive demo");
});

test("a program in another project runs a team of functions", () => {
  mkdirSync(join(folder, "src"));
  writeFileSync(
    join(folder, "src/hello.mts"),
    `import { defineTeam, open, persona, phase } from "maestro-hive";
     const greeter = persona("greeter", { run: async (ctx) => ({ summary: await ctx.step("greet", () => "hello " + ctx.brief) }) });
     const maestro = await open();
     const session = await maestro.start(defineTeam("hello", { phases: [phase("greet", { personas: [greeter] })] }), { brief: "you" });
     const { status, results } = await session.result();
     console.log(status, JSON.stringify(results).includes("hello you"));
     await maestro.close();`,
  );
  expect(run("src/hello.mts")).toMatchObject({ status: 0, stdout: "completed true\n" });
});

test.each(Object.entries(endings))("%s runs as a copy in the project", (file, ending) => {
  cpSync(join(installed, "examples", file), join(folder, file));
  const { status, stdout, stderr } = run(file);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toMatch(ending);
});

test("hello.mts runs as a team file from a copy in the project", () => {
  cpSync(join(installed, "examples/hello.mts"), join(folder, "hello.mts"));
  const ran = run("node_modules/.bin/maestro-hive", "run", "one two three", "--team", "hello.mts", "--json");
  expect(ran).toMatchObject({ status: 0 });
  expect(ran.stdout).toContain("Hello, you said 3 words.");
});

test.each([
  ["nodenext", "nodenext"],
  ["esnext", "bundler"],
])("a strict project that checks libraries compiles with module %s, resolved by %s", (module, resolution) => {
  const types = join(folder, "node_modules/@types");
  mkdirSync(types, { recursive: true });
  if (!existsSync(join(types, "node")))
    symlinkSync(join(root, "node_modules/@types/node"), join(types, "node"));
  const project = join(folder, `strict-${resolution}`);
  mkdirSync(project);
  writeFileSync(
    join(project, "team.mts"),
    `import { defineTeam, durableModel, open, persona, phase, type SessionView } from "maestro-hive";
     import { ManualClock } from "maestro-hive/testing";
     declare const model: { specificationVersion: "v4"; provider: string; modelId: string; doGenerate(o: { prompt: string }): Promise<string>; doStream(): Promise<string> };
     const agent = persona("agent", { run: async (ctx) => ({ summary: durableModel(model, ctx).modelId }) });
     const maestro = await open({ clock: new ManualClock() });
     const session = await maestro.start(defineTeam("t", { phases: [phase("p", { personas: [agent] })] }), { brief: "b" });
     const view: SessionView = await maestro.show(session.id);
     console.log(view.id);
     // @ts-expect-error: proves that the types are read
     console.log(view.nothing);`,
  );
  writeFileSync(
    join(project, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: false,
        noEmit: true,
        target: "es2022",
        types: ["node"],
        module,
        moduleResolution: resolution,
      },
      files: ["team.mts"],
    }),
  );
  const compiled = run(join(root, "node_modules/typescript/bin/tsc"), "-p", project);
  expect({ status: compiled.status, output: compiled.stdout }).toEqual({ status: 0, output: "" });
});
