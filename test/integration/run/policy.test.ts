import { expect, test } from "vitest";
import { defineTeam, type Healer, type PersonaOptions, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

async function run(place: TeamPlace, worker: PersonaOptions, healers: readonly Healer[] = []) {
  const maestro = await place.open({ healers });
  const team = defineTeam("ruled", { phases: [phase("work", { personas: [persona("worker", worker)] })] });
  const session = await maestro.start(team, { brief: "x" });
  const result = await session.result();
  const view = await maestro.show(session.id);
  return { result, attempts: view.phases[0]?.personas[0]?.attempts ?? [], files: view.artifacts };
}

const policy = { write: ["src/**"] };

test("code that writes against its policy fails for good, and its files are removed", async () => {
  const place = new TeamPlace();
  const { result, attempts, files } = await run(place, {
    policy,
    run: place.work("worker", async ({ workspace }) => {
      await workspace.write("src/a.txt", "a");
      await workspace.write("test/a.txt", "a");
    }),
  });
  expect(result).toMatchObject({ status: "failed", error: { code: "GOVERNANCE_VIOLATION" } });
  expect(result.error?.message).toContain("test/a.txt");
  expect(attempts).toMatchObject([{ status: "failed", failure: { category: "GOVERNANCE" } }]);
  expect(files).toEqual([]);
  expect(place.ran).toEqual(["worker"]);
});

test("files that the policy excludes from its globs may not be written", async () => {
  const place = new TeamPlace();
  const writes = (path: string) =>
    run(place, {
      policy: { write: ["src/**", "!src/db/**"] },
      run: place.work("worker", ({ workspace }) => workspace.write(path, "a")),
    });
  expect((await writes("src/a.txt")).result).toMatchObject({ status: "completed" });
  for (const path of ["src/db/a.sql", "deploy/prod.yaml"])
    expect((await writes(path)).result).toMatchObject({
      status: "failed",
      error: { code: "GOVERNANCE_VIOLATION" },
    });
});

test("code that fails after a forbidden write is reported as a violation", async () => {
  const place = new TeamPlace();
  let tries = 0;
  const { result, attempts, files } = await run(place, {
    policy,
    run: place.work("worker", async ({ workspace }) => {
      tries += 1;
      if (tries > 1) return;
      await workspace.write("deploy/prod.yaml", "a");
      throw new Error("not good enough");
    }),
  });
  expect(result).toMatchObject({ status: "failed", error: { code: "GOVERNANCE_VIOLATION" } });
  expect(attempts).toMatchObject([{ status: "failed", failure: { category: "GOVERNANCE" } }]);
  expect(files).toEqual([]);
});

test("code that obeys its policy is not affected by it", async () => {
  const place = new TeamPlace();
  const write = place.work("worker", ({ workspace }) => workspace.write("src/a.txt", "a"));
  const { result, files } = await run(place, { policy, run: write });
  expect(result.status).toBe("completed");
  expect(files.map(({ path }) => path)).toEqual(["src/a.txt"]);
});

test("work that removes a file is valid", async () => {
  const place = new TeamPlace();
  const work = place.work("worker", async ({ workspace }) => {
    await workspace.write("a.txt", "a");
    await workspace.remove("a.txt");
  });
  const { result, files } = await run(place, { run: work });
  expect(result.status).toBe("completed");
  expect(files).toEqual([]);
});

test("files that a healer writes against the policy are rolled back and recorded", async () => {
  const place = new TeamPlace();
  const careless: Healer = {
    name: "careless",
    categories: ["CONTRACT"],
    heal: async ({ workspace }) => {
      await workspace.write("src/needed.txt", "here");
      await workspace.write("elsewhere.txt", "not here");
      return { action: "wrote what was missing" };
    },
  };
  const worker = {
    policy,
    contract: { deliverables: ["src/needed.txt"] },
    run: place.work("worker", async ({ workspace, failures }) => {
      if (failures.length === 0) return;
      expect(workspace.list()).toEqual([]);
      await workspace.write("src/needed.txt", "mine");
    }),
  };
  const { result, attempts, files } = await run(place, worker, [careless]);
  expect(result.status).toBe("completed");
  expect(attempts[0]?.healing).toEqual([
    {
      healer: "careless",
      action: "wrote what was missing (elsewhere.txt may not be written)",
      did: {
        kind: "custom",
        words: "wrote what was missing",
        paths: ["elsewhere.txt", "src/needed.txt"],
        members: [],
      },
      forbidden: "elsewhere.txt",
      outcome: "rolled-back",
    },
  ]);
  expect(files.map(({ path }) => path)).toEqual(["src/needed.txt"]);
});

test("fix-imports changes no file that the policy forbids the persona to write", async () => {
  const place = new TeamPlace();
  const maestro = await place.open();
  const team = defineTeam("ruled", {
    phases: [
      phase("first", {
        personas: [
          persona("author", {
            run: place.work("author", async ({ workspace }) => {
              await workspace.write("main.mjs", 'import "./add.mjs";\n');
              await workspace.write("lib/add.mjs", "export {};\n");
            }),
          }),
        ],
      }),
      phase("second", {
        personas: [
          persona("worker", {
            policy,
            maxAttempts: 1,
            contract: { checks: [{ name: "runs", run: ["node", "main.mjs"] }] },
            run: place.work("worker"),
          }),
        ],
      }),
    ],
  });
  const session = await maestro.start(team, { brief: "x" });
  expect(await session.result()).toMatchObject({ status: "parked", reason: "help" });
  const [attempt] = (await maestro.show(session.id)).phases[1]?.personas[0]?.attempts ?? [];
  expect(attempt?.healing).toEqual([]);
});
