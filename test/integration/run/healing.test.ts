import { describe, expect, it } from "vitest";
import { defineTeam, type Healer, type PersonaOptions, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

type Work = (typeof TeamPlace)["prototype"]["work"] extends (name: string, act?: infer Act) => unknown
  ? NonNullable<Act>
  : never;

async function run(
  place: TeamPlace,
  options: Omit<PersonaOptions, "run">,
  act: Work,
  healers: readonly Healer[] = [],
) {
  const maestro = await place.open({ healers });
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

describe("outputs of the wrong form", () => {
  it("are converted to the contract's schema, and the same attempt completes, marked as healed", async () => {
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
      healing: [
        {
          healer: "repair-outputs",
          did: { kind: "repaired-outputs", members: ["Tables", "names", "chatter", "tables"] },
          outcome: "passed",
        },
      ],
    });
    expect(more).toEqual([]);
    expect(place.ran).toEqual(["worker"]);
  });

  it("that cannot be converted are left unchanged, and the attempt fails", async () => {
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

describe("a broken import", () => {
  const contract = { checks: [{ name: "runs", run: ["node", "main.mjs"] }] };

  it("is corrected to the one file it can mean, and the check passes", async () => {
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
      healing: [
        {
          healer: "fix-imports",
          action: "pointed imports to files that exist: ./add.mjs in main.mjs is ./lib/add.mjs",
          did: {
            kind: "fixed-imports",
            imports: [{ path: "main.mjs", from: "./add.mjs", to: "./lib/add.mjs" }],
          },
          outcome: "passed",
        },
      ],
    });
    expect(files.map(({ path }) => path)).toEqual(["lib/add.mjs", "main.mjs"]);
  });

  it("is restored when the check still fails", async () => {
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

describe("imports that no failure names", () => {
  it("are left alone in any spelling: only the broken one is corrected", async () => {
    const place = new TeamPlace();
    const healthy = 'import { b } from "./b.js";\nimport "./lib";\nimport type { C } from "./c";\n';
    const { maestro, session, result } = await run(
      place,
      { contract: { checks: [{ name: "runs", run: ["node", "main.mjs"] }] } },
      async ({ workspace }) => {
        await workspace.write("src/a.ts", healthy);
        await workspace.write("src/b.ts", "export const b = 1;\n");
        await workspace.write("src/c.ts", "export type C = 1;\n");
        await workspace.write("src/lib/index.js", "");
        await workspace.write("main.mjs", 'import "./util.mjs";\n');
        await workspace.write("tools/util.mjs", "export {};\n");
      },
    );
    expect(result.status).toBe("completed");
    const text = async (path: string) => {
      const found = (await maestro.show(session.id)).artifacts.find((file) => file.path === path);
      return String(await maestro.artifact(session.id, String(found?.sha256)));
    };
    expect(await text("src/a.ts")).toBe(healthy);
    expect(await text("main.mjs")).toBe('import "./tools/util.mjs";\n');
  });

  it("in TypeScript get the spelling that tsc suggests", async () => {
    const place = new TeamPlace();
    const says =
      "src/a.ts(1,19): error TS2835: Relative import paths need explicit file extensions in ECMAScript imports when '--moduleResolution' is 'node16' or 'nodenext'. Did you mean './b.js'?";
    const check = `if (!require("fs").readFileSync("src/a.ts", "utf8").includes("./b.js")) { console.log(${JSON.stringify(says)}); process.exit(2); }`;
    const { attempt } = await run(
      place,
      { contract: { checks: [{ name: "tsc", run: ["node", "-e", check] }] } },
      async ({ workspace }) => {
        await workspace.write("src/a.ts", 'import { b } from "./b";\n');
        await workspace.write("src/b.ts", "export const b = 1;\n");
      },
    );
    expect(attempt).toMatchObject({
      status: "completed",
      healing: [{ healer: "fix-imports", outcome: "passed" }],
    });
  });
});

describe("a custom healer", () => {
  const healer = (heal: Healer["heal"]): Healer => ({
    name: "own",
    categories: ["CONTRACT", "UNKNOWN"],
    heal,
  });

  it("is called for failures of its categories, and its action completes the attempt", async () => {
    const place = new TeamPlace();
    const own = healer(async ({ workspace, failure }) => {
      await workspace.write("a.txt", failure.category);
      return { action: "wrote a.txt" };
    });
    const { result, attempt } = await run(place, { contract: { deliverables: ["a.txt"] } }, () => ({}), [
      own,
    ]);
    expect(result.status).toBe("completed");
    const did = { kind: "custom", words: "wrote a.txt", paths: ["a.txt"], members: [] };
    expect(attempt?.healing).toEqual([{ healer: "own", action: "wrote a.txt", did, outcome: "passed" }]);
  });

  it("is rolled back and recorded when the work threw, because its files cannot be judged", async () => {
    const place = new TeamPlace();
    const own = healer(async ({ workspace }) => {
      await workspace.write("litter.txt", "x");
      return { action: "wrote litter.txt" };
    });
    const { attempt, files } = await run(
      place,
      {},
      ({ failures }) => {
        if (failures.length === 0) throw new Error("something odd");
      },
      [own],
    );
    expect(attempt?.healing).toMatchObject([
      { healer: "own", action: "wrote litter.txt", did: { paths: ["litter.txt"] }, outcome: "rolled-back" },
    ]);
    expect(files).toEqual([]);
  });

  it("whose action was kept is recorded beside the one that made the contract pass", async () => {
    const place = new TeamPlace();
    const writes = (path: string): Healer => ({
      ...healer(async ({ workspace }) => {
        await workspace.write(path, "x");
        return { action: `wrote ${path}` };
      }),
      name: path,
    });
    const { attempt } = await run(
      place,
      { contract: { deliverables: ["a.txt", "b.txt"] } },
      () => ({}),
      ["a.txt", "b.txt"].map(writes),
    );
    expect(attempt?.status).toBe("completed");
    expect(attempt?.healing).toMatchObject([
      { healer: "a.txt", action: "wrote a.txt", outcome: "kept" },
      { healer: "b.txt", action: "wrote b.txt", outcome: "passed" },
    ]);
  });

  it("may name the kind of its action; the changed files come from the workspace", async () => {
    const place = new TeamPlace();
    const own = healer(async ({ workspace }) => {
      for (let at = 0; at < 60; at++) await workspace.write(`docs/${String(at).padStart(2, "0")}.md`, "x");
      return { action: { kind: "edited-files", paths: ["something-else.md"] } };
    });
    const { attempt } = await run(place, { contract: { deliverables: ["docs/*.md"] } }, () => ({}), [own]);
    expect(attempt).toMatchObject({
      status: "completed",
      healing: [
        {
          action: "edited docs/00.md, docs/01.md, docs/02.md, docs/03.md, docs/04.md and 55 more",
          did: { kind: "edited-files", more: 10 },
          outcome: "passed",
        },
      ],
    });
    const did = attempt?.healing[0]?.did;
    expect(did?.kind === "edited-files" && did.paths).toHaveLength(50);
  });

  it.each([
    { action: { kind: "raised-limit", limit: "timeoutMs", from: 1, to: 1e9 } as const },
    { action: "more time", settings: { timeoutMs: 1e9 } },
  ])("raises a limit no further than its team allows: $action", async (remedy) => {
    const place = new TeamPlace();
    const seen: unknown[] = [];
    const own = healer(async ({ timeoutMs, maxTimeoutMs }) => {
      seen.push(timeoutMs, maxTimeoutMs);
      return seen.length > 2 ? undefined : remedy;
    });
    const { result } = await run(
      place,
      { timeoutMs: 10_000 },
      () => {
        throw new Error("something odd");
      },
      [own],
    );
    expect(result).toMatchObject({ status: "parked", reason: "help" });
    expect(seen.slice(0, 4)).toEqual([10_000, 40_000, 40_000, 40_000]);
  });

  it("without types that names an unknown kind is recorded with that name", async () => {
    const place = new TeamPlace();
    const own = healer(async ({ workspace }) => {
      await workspace.write("a.txt", "x");
      return { action: { kind: "prayed" } as never };
    });
    const { attempt } = await run(place, { contract: { deliverables: ["a.txt"] } }, () => ({}), [own]);
    expect(attempt?.healing).toMatchObject([
      { action: "prayed", did: { kind: "custom", words: "prayed", paths: ["a.txt"] }, outcome: "passed" },
    ]);
  });
});

describe("formatting errors", () => {
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

  it("are fixed by the project's own formatter, in the sandbox", async () => {
    const place = new TeamPlace();
    const { result, attempt } = await run(place, { contract: check }, async ({ workspace }) => {
      await workspace.write("a.txt", "no end");
      await workspace.write(
        "package.json",
        project("node -e \"require('fs').appendFileSync('a.txt', '\\\\n')\""),
      );
    });
    expect(result).toMatchObject({ status: "completed" });
    expect(attempt).toMatchObject({
      healing: [
        {
          healer: "project-tools",
          action: "ran npm run --silent format, which changed a.txt",
          did: { kind: "ran-tool", argv: ["npm", "run", "--silent", "format"], paths: ["a.txt"] },
          outcome: "passed",
        },
      ],
    });
  });

  it("are left as they were when the formatter made nothing better", async () => {
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
