import { describe, expect, it } from "vitest";
import { defineTeam, type PersonaOptions, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "../team/place.ts";

type Work = (typeof TeamPlace)["prototype"]["work"] extends (name: string, act?: infer Act) => unknown
  ? NonNullable<Act>
  : never;

async function run(place: TeamPlace, options: Omit<PersonaOptions, "run">, act: Work) {
  const maestro = await place.open();
  const team = defineTeam("healed", {
    phases: [
      phase("work", {
        personas: [persona("worker", { ...options, run: place.work("worker", act) } as PersonaOptions)],
      }),
    ],
  });
  const session = await maestro.start(team, { brief: "x" });
  const result = await session.result();
  const [attempt, ...more] = (await maestro.show(session.id)).phases[0]?.personas[0]?.attempts ?? [];
  return { maestro, session, result, attempt, more, files: (await maestro.show(session.id)).artifacts };
}

const tables = {
  type: "object",
  properties: { tables: { type: "integer" }, names: { type: "array", items: { type: "string" } } },
  required: ["tables"],
  additionalProperties: false,
};

describe("outputs in the wrong form", () => {
  it("are bent into the contract's schema, and the same attempt completes, marked healed", async () => {
    const place = new TeamPlace();
    const { result, attempt, more } = await run(place, { contract: { outputs: tables } }, () => ({
      Tables: "3",
      names: '```json\n["a", "b",]\n```',
      chatter: "here you are",
    }));
    expect(result).toMatchObject({ status: "completed" });
    expect(result.results["work"]?.["worker"]?.outputs).toEqual({ tables: 3, names: ["a", "b"] });
    expect(attempt).toMatchObject({
      status: "completed",
      healing: [{ healer: "repair-outputs", outcome: "passed" }],
    });
    expect(more).toEqual([]);
    expect(place.ran).toEqual(["worker"]);
  });

  it("that cannot be bent far enough are left as they were, and the attempt fails", async () => {
    const place = new TeamPlace();
    const { result, attempt } = await run(place, { contract: { outputs: tables } }, ({ failures }) =>
      failures.length === 0 ? { names: "a" } : { tables: 1 },
    );
    expect(result).toMatchObject({ status: "completed" });
    expect(attempt).toMatchObject({
      status: "failed",
      healing: [{ healer: "repair-outputs", outcome: "rolled-back" }],
    });
    expect(place.ran).toHaveLength(2);
  });

  it("are not touched when healing is off", async () => {
    const place = new TeamPlace();
    const { attempt } = await run(
      place,
      { healing: "off", contract: { outputs: tables } },
      ({ failures }) => ({
        tables: failures.length === 0 ? "3" : 3,
      }),
    );
    expect(attempt).toMatchObject({ status: "failed", healing: [] });
  });
});

describe("an import that leads nowhere", () => {
  const contract = { checks: [{ name: "runs", run: ["node", "main.mjs"] }] };

  it("is pointed to the one file it can mean, and the check passes", async () => {
    const place = new TeamPlace();
    const { result, attempt, files } = await run(place, { contract }, async ({ workspace }) => {
      await workspace.write(
        "main.mjs",
        'import { add } from "./add.mjs";\nif (add(1, 2) !== 3) process.exit(1);\n',
      );
      await workspace.write("lib/add.mjs", "export const add = (a, b) => a + b;\n");
    });
    expect(result).toMatchObject({ status: "completed" });
    expect(attempt).toMatchObject({
      status: "completed",
      healing: [{ healer: "fix-imports", outcome: "passed" }],
    });
    expect(files.map(({ path }) => path)).toEqual(["lib/add.mjs", "main.mjs"]);
  });

  it("is pointed back where it was when the check fails all the same", async () => {
    const place = new TeamPlace();
    const texts: string[] = [];
    const { attempt } = await run(place, { maxAttempts: 2, contract }, async ({ workspace, failures }) => {
      if (failures.length > 0) {
        texts.push(await workspace.readText("main.mjs"));
        await workspace.write("main.mjs", "process.exit(0);\n");
        return;
      }
      await workspace.write(
        "main.mjs",
        'import { add } from "./add.mjs";\nif (add(1, 2) !== 3) process.exit(1);\n',
      );
      await workspace.write("lib/add.mjs", "export const add = (a, b) => a - b;\n");
    });
    expect(attempt).toMatchObject({
      status: "failed",
      healing: [{ healer: "fix-imports", outcome: "rolled-back" }],
    });
    expect(texts).toEqual(['import { add } from "./add.mjs";\nif (add(1, 2) !== 3) process.exit(1);\n']);
  });
});

describe("what is only a matter of form", () => {
  const check = {
    checks: [
      {
        name: "form",
        run: [
          "node",
          "-e",
          'process.exit(require("fs").readFileSync("a.txt", "utf8").endsWith("\\n") ? 0 : 1)',
        ],
      },
    ],
  };
  const project = (script: string) => JSON.stringify({ name: "p", scripts: { format: script } });

  it("is mended by the project's own formatter, in the sandbox", async () => {
    const place = new TeamPlace();
    const { result, attempt } = await run(place, { contract: check }, async ({ workspace }) => {
      await workspace.write("a.txt", "no end");
      await workspace.write(
        "package.json",
        project("node -e \"require('fs').appendFileSync('a.txt', '\\\\n')\""),
      );
    });
    expect(result).toMatchObject({ status: "completed" });
    expect(attempt).toMatchObject({ healing: [{ healer: "project-tools", outcome: "passed" }] });
  });

  it("is taken back when the formatter made nothing better", async () => {
    const place = new TeamPlace();
    const seen: (readonly string[])[] = [];
    const { attempt } = await run(place, { contract: check }, async ({ workspace, failures }) => {
      seen.push(workspace.list());
      if (failures.length > 0) return workspace.write("a.txt", "an end\n");
      await workspace.write("a.txt", "no end");
      await workspace.write(
        "package.json",
        project("node -e \"require('fs').writeFileSync('litter.txt', 'x')\""),
      );
      return undefined;
    });
    expect(attempt).toMatchObject({
      status: "failed",
      healing: [{ healer: "project-tools", outcome: "rolled-back" }],
    });
    expect(seen[1]).toEqual(["a.txt", "package.json"]);
  });
});
