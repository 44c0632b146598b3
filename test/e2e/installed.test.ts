import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const root = join(import.meta.dirname, "../..");

test("the published package, installed in an empty folder with its own dependencies only, runs the demo and a team of code", () => {
  const folder = mkdtempSync(join(tmpdir(), "maestro-installed-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const npm = (...args: readonly string[]): string =>
    execFileSync("npm", [...args, "--silent", "--prefer-offline", "--no-audit", "--no-fund"], {
      cwd: folder,
      encoding: "utf8",
    });
  // Without scripts: packing would build again, while other tests use what is built.
  npm("pack", root, "--ignore-scripts");
  const [tarball = ""] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  writeFileSync(join(folder, "package.json"), '{ "name": "empty", "private": true, "type": "module" }');
  npm("install", `./${tarball}`);
  expect(existsSync(join(folder, "node_modules/typescript"))).toBe(false);
  const env = { ...process.env, MAESTRO_STATE_DIR: join(folder, "state") };
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, args, { cwd: folder, env, encoding: "utf8" });

  const demo = run("node_modules/.bin/maestro", "demo", "--json", "--out", "demo");
  expect(demo).toMatchObject({ status: 0 });
  expect(JSON.parse(demo.stdout)).toMatchObject({ status: "completed", checkpoints: 6 });
  expect(readdirSync(join(folder, "demo/project"))).toContain("package.json");

  mkdirSync(join(folder, "src"));
  writeFileSync(
    join(folder, "src/hello.ts"),
    `import { defineTeam, open, persona, phase } from "maestro-hive";
     const greeter = persona("greeter", { run: async (ctx) => ({ summary: await ctx.step("greet", () => "hello " + ctx.brief) }) });
     const maestro = await open();
     const session = await maestro.start(defineTeam("hello", { phases: [phase("greet", { personas: [greeter] })] }), { brief: "you" });
     const { status, results } = await session.result();
     console.log(status, JSON.stringify(results).includes("hello you"));
     await maestro.close();`,
  );
  expect(run("src/hello.ts")).toMatchObject({ status: 0, stdout: "completed true\n" });
});
