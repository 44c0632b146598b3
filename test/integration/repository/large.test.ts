import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "../run/place.ts";
import { TestRepository } from "./test-repository.ts";

function large(files: number, bytes: number): TestRepository {
  const repository = new TestRepository();
  for (let number = 0; number < files; number += 1) {
    const folder = join(repository.folder, `d${number % 50}`);
    if (!existsSync(folder)) mkdirSync(folder);
    writeFileSync(join(folder, `f${number}.txt`), `${number} `.padEnd(bytes, "x"));
  }
  repository.commit();
  return repository;
}

const lookThenBuild = defineTeam("two", {
  phases: [
    phase("look", { personas: [persona("reader", { run: async () => ({ summary: "seen" }) })] }),
    phase("build", {
      personas: [
        persona("author", {
          run: async ({ workspace }) => {
            await workspace.write("new.txt", "new");
            return { summary: `${workspace.list().length} files` };
          },
        }),
      ],
    }),
  ],
});

test("a phase without changes names the base in its checkpoint, and an export still resumes elsewhere", async () => {
  const repository = large(2_000, 20);
  const place = new TeamPlace();
  const maestro = await place.open();
  const source = { git: repository.folder };
  const session = await maestro.start(lookThenBuild, { brief: "x", source, until: "look" });
  await session.result();
  const { source: recorded } = await maestro.show(session.id);
  const checkpoint = join(place.stateDir, "sessions", session.id, "checkpoint_look.json");
  expect(statSync(checkpoint).size).toBeLessThan(10_000);
  expect(JSON.parse(readFileSync(checkpoint, "utf8"))).toMatchObject({
    tree: recorded?.tree,
    files: { base: recorded?.tree, changes: [] },
  });
  expect(await maestro.checkpoints(session.id)).toMatchObject([{ valid: true }, { valid: true }]);
  const file = join(place.stateDir, "export");
  await maestro.exportCheckpoints(session.id, file);
  const elsewhere = await new TeamPlace().open({ teams: [lookThenBuild] });
  await elsewhere.importCheckpoints(file, { trust: true });
  const resumed = await elsewhere.resume(session.id);
  expect(await resumed.result()).toMatchObject({ status: "completed" });
  expect((await elsewhere.show(session.id)).phases[1]?.personas[0]?.summary).toBe("2001 files");
  await elsewhere.branch(session.id, { branch: "out", repo: repository.folder });
  expect(repository.git("diff", "--name-status", "HEAD", "out")).toBe("A\tnew.txt");
});

test("contents are not held in memory: 120 MB go in with far less", () => {
  const repository = large(1_000, 120_000);
  const program = `
    import { open, defineTeam, persona, phase } from ${JSON.stringify(join(process.cwd(), "src/index.ts"))};
    const team = defineTeam("idle", { phases: [phase("p", { personas: [persona("a", { run: async () => ({ summary: "" }) })] })] });
    const maestro = await open({ stateDir: process.argv[1] });
    const before = process.memoryUsage.rss();
    let most = before;
    const timer = setInterval(() => { most = Math.max(most, process.memoryUsage.rss()); }, 5);
    await maestro.create(team, { brief: "x", source: { git: process.argv[2] } });
    clearInterval(timer);
    await maestro.close();
    console.log(most - before);
  `;
  const { stateDir } = new TeamPlace();
  const args = ["--input-type=module", "-e", program, stateDir, repository.folder];
  const run = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(run.stderr).not.toMatch(/Error/);
  const grown = Number(run.stdout.trim());
  expect(grown).toBeGreaterThan(0);
  expect(grown).toBeLessThan(90 * 1024 * 1024);
  const stored = execFileSync("du", ["-sb", stateDir], { encoding: "utf8" });
  expect(Number.parseInt(stored, 10)).toBeGreaterThan(120_000_000);
});
