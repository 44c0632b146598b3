import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { findProgram, searchPath } from "../../src/workspace/find-program.ts";
import { json, maestro, type Place, place } from "./support/packed.ts";
import { demoSchema } from "./support/schemas.ts";

/** A machine with a few programs, and without bubblewrap. */
async function withoutSandbox(more: Record<string, string> = {}): Promise<Place> {
  const at = place();
  const bin = join(at.folder, "bin");
  mkdirSync(bin);
  for (const name of ["grep", "touch", "sh"]) {
    const program = await findProgram(name, searchPath());
    if (program !== undefined) symlinkSync(program, join(bin, name));
  }
  return { ...at, env: { ...at.env, PATH: `${bin}:${dirname(process.execPath)}`, ...more } };
}

/** A team whose check leaves a file outside its folder when nothing confines it. */
function writeTeam(folder: string): string {
  const made = join(folder, "made-outside");
  const check = `checks: [{ name: made, run: [touch, ${JSON.stringify(made)}] }]`;
  const persona = `personas: { dev: { instructions: Work., contract: { ${check} } } }`;
  writeFileSync(
    join(folder, "team.yaml"),
    `name: t\nmodel: simulated\nphases: [{ name: one, personas: [dev] }]\n${persona}\n`,
  );
  return made;
}

const run = ["run", "Do it", "--team", "team.yaml", "--key", "k"] as const;

test("without a sandbox, run refuses a team with checks before anything happens, and says what to install", async () => {
  const at = await withoutSandbox();
  const made = writeTeam(at.folder);
  const { code, stderr } = await maestro(at, ...run);
  expect(code).toBe(2);
  expect(stderr).toMatch(/the checks of dev in phase one cannot run, because this machine has no sandbox/);
  expect(stderr).toMatch(/Install bubblewrap/);
  expect(stderr).toMatch(/--sandbox none/);
  expect([existsSync(made), existsSync(join(at.folder, "state"))]).toEqual([false, false]);
});

test("a folder's configuration cannot turn the sandbox off", async () => {
  const at = await withoutSandbox();
  const made = writeTeam(at.folder);
  writeFileSync(join(at.folder, "maestro.config.yaml"), "sandbox: none\n");
  const { code, stderr } = await maestro(at, ...run);
  expect([code, existsSync(made)]).toEqual([2, false]);
  expect(stderr).toMatch(/maestro\.config\.yaml/);
});

test("a team file cannot turn the sandbox off", async () => {
  const at = await withoutSandbox({ MAESTRO_MODEL: "simulated" });
  writeFileSync(
    join(at.folder, "team.yaml"),
    "name: t\nsandbox: none\nphases: [{ name: one, personas: [{ name: a, instructions: b }] }]\n",
  );
  const { code, stderr } = await maestro(at, ...run);
  expect(code).toBe(2);
  expect(stderr).toMatch(/"sandbox"/);
});

test.each([
  ["the flag", [...run, "--sandbox", "none"], {}],
  ["the environment", run, { MAESTRO_SANDBOX: "none" }],
] as const)(
  "%s lets checks of a trusted team run without a sandbox, and the run says so",
  async (_, args, env) => {
    const at = await withoutSandbox(env);
    const made = writeTeam(at.folder);
    const refused = await maestro(at, ...args);
    expect([refused.code, existsSync(made)]).toEqual([2, false]);
    expect(refused.stderr).toMatch(/You have not trusted the team file .*\n.* checks its files/);
    expect(await maestro(at, "trust", "team.yaml")).toMatchObject({ code: 0 });
    const { code, stderr } = await maestro(at, ...args);
    expect([code, existsSync(made)], stderr).toEqual([0, true]);
    expect(stderr).toMatch(/Checks run without a sandbox/);
  },
);

test("a trusted folder and the user's own configuration let checks run without a sandbox", async () => {
  const at = await withoutSandbox();
  const made = writeTeam(at.folder);
  writeFileSync(join(at.folder, "maestro.config.yaml"), "sandbox: none\n");
  expect(await maestro(at, "trust")).toMatchObject({ code: 0 });
  expect(await maestro(at, ...run)).toMatchObject({ code: 0 });
  expect(existsSync(made)).toBe(true);

  const other = await withoutSandbox();
  const own = join(other.env["XDG_CONFIG_HOME"] ?? "", "maestro");
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, "config.yaml"), "sandbox: none\n");
  writeTeam(other.folder);
  expect(await maestro(other, ...run)).toMatchObject({ code: 2 });
  expect(await maestro(other, "trust", "team.yaml")).toMatchObject({ code: 0 });
  expect(await maestro(other, ...run)).toMatchObject({ code: 0 });
});

test("the demo runs without a sandbox, and says so", async () => {
  const at = await withoutSandbox();
  const out = join(at.folder, "demo");
  expect(demoSchema.parse(await json(at, "demo", "--out", out))).toMatchObject({ status: "completed" });
  const { code, stderr } = await maestro(at, "demo", "--out", join(at.folder, "second"));
  expect(code).toBe(0);
  expect(stderr).toMatch(/This machine has no sandbox, so the checks of the demo run without one/);
});
