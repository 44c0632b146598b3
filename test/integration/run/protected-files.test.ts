import { describe, expect, it } from "vitest";
import {
  defineTeam,
  type Healer,
  type Maestro,
  type PersonaContext,
  type PersonaOptions,
  persona,
  phase,
} from "../../../src/index.ts";
import { calls, ModelHive } from "../../support/model-hive.ts";
import { TeamPlace } from "./place.ts";

const tests = 'import { sum } from "../src/sum.mjs";\nif (sum(1, 2) !== 3) process.exit(1);\n';
const packageJson = (scripts: object, more: object = {}): string =>
  `${JSON.stringify({ name: "sums", scripts, ...more }, null, 2)}\n`;
const scripts = { test: "node test/sum.test.mjs" };
const wrong = "export const sum = () => 4;\n";
const right = "export const sum = (a, b) => a + b;\n";

const tester = persona("tester", {
  contract: { deliverables: ["test/**", "package.json"] },
  run: async ({ workspace }) => {
    await workspace.write("test/sum.test.mjs", tests);
    await workspace.write("package.json", packageJson(scripts));
    return { summary: "wrote the tests" };
  },
});

const passes: PersonaOptions["contract"] = { checks: [{ name: "tests", run: ["npm", "test"] }] };

/** A developer whose gate is the tests of another phase. */
const team = (developer: PersonaOptions, more: object = {}) =>
  defineTeam("sums", {
    phases: [
      phase("tests", { personas: [tester] }),
      phase("code", {
        gate: 1,
        personas: [persona("developer", { contract: passes, maxAttempts: 2, ...developer })],
      }),
    ],
    ...more,
  });

async function run(place: TeamPlace, developer: PersonaOptions, more: object = {}) {
  const maestro = await place.open({ rounds: { max: 1 } });
  const session = await maestro.start(team(developer, more), { brief: "x" });
  const result = await session.result();
  const view = await maestro.show(session.id);
  const code = view.phases[1];
  return { maestro, id: session.id, result, code, attempts: code?.personas[0]?.attempts ?? [] };
}

const filesOf = (place: TeamPlace, maestro: Maestro, id: string) => place.filesOf(maestro, id);

/** Empties the tests, replaces their command, and leaves the code wrong. */
const attack = async ({ workspace }: Pick<PersonaContext, "workspace">): Promise<void> => {
  await workspace.write("test/sum.test.mjs", "");
  await workspace.write("package.json", packageJson({ test: "true" }));
  await workspace.write("src/sum.mjs", wrong);
};

describe("a persona that empties the tests of an earlier phase and replaces their command", () => {
  it("as a function, does not pass its gate: both are put back, its own file stays, and its next attempt is informed", async () => {
    const place = new TeamPlace();
    const heard: unknown[] = [];
    const { maestro, id, result, attempts } = await run(place, {
      run: place.work("developer", async (context) => {
        heard.push(context.putBack);
        await attack(context);
      }),
    });
    expect(result).toMatchObject({ status: "parked", reason: "help" });
    expect(place.ran).toEqual(["developer", "developer"]);
    const putBack = [
      { path: "package.json", why: expect.stringContaining("tester delivers it in phase tests") },
      { path: "test/sum.test.mjs", why: expect.stringContaining("tester delivers it in phase tests") },
    ];
    expect(heard).toEqual([[], putBack]);
    expect(attempts).toMatchObject([{ putBack: { files: putBack } }, { putBack: { files: putBack } }]);
    expect(await filesOf(place, maestro, id)).toMatchObject({ "test/sum.test.mjs": tests });
  });

  it("as a command, does not pass its gate, and its next prompt names what was put back", async () => {
    const place = new TeamPlace();
    const script = `
      const fs = require("fs");
      const prompt = fs.readFileSync(0, "utf8");
      fs.rmSync("test", { recursive: true });
      fs.writeFileSync("package.json", ${JSON.stringify(packageJson({ test: "true" }))});
      fs.mkdirSync("src", { recursive: true });
      const isTold = prompt.includes("put back") && prompt.includes("test/sum.test.mjs");
      fs.writeFileSync("src/sum.mjs", isTold ? ${JSON.stringify(right)} : ${JSON.stringify(wrong)});
      console.log("done");`;
    const { maestro, id, result, attempts, code } = await run(place, {
      instructions: "Write src/sum.mjs.",
      command: ["node", "-e", script],
    });
    expect(result.status).toBe("completed");
    expect(attempts.map(({ status }) => status)).toEqual(["failed", "completed"]);
    expect(code?.putBack).toMatchObject([
      { persona: "developer", path: "package.json" },
      { persona: "developer", path: "test/sum.test.mjs" },
    ]);
    expect(await filesOf(place, maestro, id)).toEqual({
      "package.json": packageJson(scripts),
      "src/sum.mjs": right,
      "test/sum.test.mjs": tests,
    });
  });

  it("as a model, gets a refusal that says why and what to do, however often it tries, and is no violation", async () => {
    const turns = [
      calls("write_file", { path: "test/sum.test.mjs", content: "" }),
      calls("write_file", { path: "package.json", content: packageJson({ test: "true" }) }),
      calls("edit_file", { path: "package.json", edits: [{ find: scripts.test, replace: "true" }] }),
      calls("write_file", { path: "node_modules/sums/index.js", content: "" }),
      calls("write_file", { path: "test/more.test.mjs", content: "// a new test\n" }),
      calls("write_file", { path: "src/sum.mjs", content: right }),
      calls("submit", { summary: "done" }),
    ];
    const hive = await ModelHive.open(({ answersBefore }) => turns[answersBefore] ?? turns[0] ?? {});
    const { result, view } = await hive.run(team({ instructions: "Write src/sum.mjs." }), {
      model: "openai/gpt-5",
    });
    expect(result.status).toBe("completed");
    expect(view.artifacts.map(({ path }) => path)).toEqual([
      "package.json",
      "src/sum.mjs",
      "test/more.test.mjs",
      "test/sum.test.mjs",
    ]);
    const texts = hive.models.server.requests.map(({ text }) => text);
    expect(texts[1]).toContain("test/sum.test.mjs was not changed: tester delivers it in phase tests");
    expect(texts[2]).toContain("package.json was not changed: tester delivers it in phase tests");
    expect(texts[4]).toContain("node_modules/sums/index.js was not changed");
    expect(texts[1]).toContain("mayChange");
  });
});

describe("the protect list of a team", () => {
  /** The tests are given from outside: no persona delivers them. */
  const given = { files: { "test/sum.test.mjs": tests, "package.json": packageJson(scripts), "a.md": "a" } };
  const lone = (developer: PersonaOptions, more: object = {}) =>
    defineTeam("sums", {
      phases: [
        phase("tests", { personas: [persona("nobody", { run: () => ({ summary: "" }) })] }),
        phase("code", { gate: 1, personas: [persona("developer", { contract: passes, ...developer })] }),
      ],
      ...more,
    });

  async function runGiven(place: TeamPlace, developer: PersonaOptions, more: object = {}) {
    const maestro = await place.open({ attempts: { max: 1 }, rounds: { max: 1 } });
    const session = await maestro.start(lone(developer, more), { brief: "x", given: { tests: given } });
    const result = await session.result();
    const view = await maestro.show(session.id);
    const files = await filesOf(place, maestro, session.id);
    return { result, files, attempt: view.phases[1]?.personas[0]?.attempts[0] };
  }

  it("protects given test files and the scripts of package.json, and nothing else of it", async () => {
    const place = new TeamPlace();
    const { result, files, attempt } = await runGiven(place, {
      run: place.work("developer", async ({ workspace }) => {
        await workspace.remove("test/sum.test.mjs");
        await workspace.write("package.json", packageJson({ test: "true" }, { version: "2.0.0" }));
        await workspace.write("src/sum.mjs", right);
        await workspace.write("test/own.test.mjs", "// new\n");
        await workspace.write("a.md", "b");
      }),
    });
    expect(result.status).toBe("completed");
    expect(attempt?.putBack).toEqual({
      files: [
        {
          path: "package.json#scripts",
          why: 'it matches "**/package.json#scripts", which the team protects',
        },
        { path: "test/sum.test.mjs", why: 'it matches "**/test/**", which the team protects' },
      ],
      more: 0,
    });
    expect(files).toEqual({
      "a.md": "b",
      "package.json": packageJson(scripts, { version: "2.0.0" }),
      "src/sum.mjs": right,
      "test/own.test.mjs": "// new\n",
      "test/sum.test.mjs": tests,
    });
  });

  it("puts a file back whole when its protected member can no longer be read", async () => {
    const place = new TeamPlace();
    const { files, attempt } = await runGiven(place, {
      run: place.work("developer", async ({ workspace }) => {
        await workspace.write("src/sum.mjs", right);
        await workspace.write("package.json", "{");
      }),
    });
    expect(files["package.json"]).toBe(packageJson(scripts));
    expect(attempt?.putBack?.files).toMatchObject([{ path: "package.json" }]);
  });

  it("is lifted for a persona by mayChange, but never for node_modules", async () => {
    const place = new TeamPlace();
    const changed = packageJson({ test: "node test/other.mjs" });
    const { result, files, attempt } = await runGiven(place, {
      mayChange: ["test/**", "package.json#scripts", "node_modules/**"],
      run: place.work("developer", async ({ workspace }) => {
        await workspace.remove("test/sum.test.mjs");
        await workspace.write("test/other.mjs", "");
        await workspace.write("package.json", changed);
        await workspace.write("node_modules/sums/index.js", "");
      }),
    });
    expect(result.status).toBe("completed");
    expect(files).toEqual({ "a.md": "a", "package.json": changed, "test/other.mjs": "" });
    expect(attempt?.putBack?.files).toMatchObject([{ path: "node_modules/sums/index.js" }]);
  });

  it("replaces the default when the team names its own", async () => {
    const place = new TeamPlace();
    const work = place.work("developer", async ({ workspace }) => {
      await workspace.write("test/sum.test.mjs", "");
      await workspace.write("a.md", "b");
    });
    const { result, files } = await runGiven(place, { run: work }, { protect: ["*.md"] });
    expect(result.status).toBe("completed");
    expect(files).toMatchObject({ "test/sum.test.mjs": "", "a.md": "a" });
  });

  it("does not turn into a violation when the persona's policy allows the path", async () => {
    const place = new TeamPlace();
    const { result, files } = await runGiven(place, {
      policy: { write: ["src/**", "test/**"] },
      run: place.work("developer", async ({ workspace }) => {
        await workspace.write("test/sum.test.mjs", "");
        await workspace.write("src/sum.mjs", right);
      }),
    });
    expect(result.status).toBe("completed");
    expect(files["test/sum.test.mjs"]).toBe(tests);
  });

  it("holds where the persona left a file in the place of a protected folder", async () => {
    const place = new TeamPlace();
    const { result, files, attempt } = await runGiven(place, {
      run: place.work("developer", async ({ workspace }) => {
        await workspace.remove("test/sum.test.mjs");
        await workspace.write("test", "a file now");
        await workspace.write("src/sum.mjs", right);
      }),
    });
    expect(result.status).toBe("completed");
    expect(files["test/sum.test.mjs"]).toBe(tests);
    expect(attempt?.putBack?.files.map(({ path }) => path)).toEqual(["test", "test/sum.test.mjs"]);
  });
});

it("what a function writes into node_modules counts in no check", async () => {
  const place = new TeamPlace();
  const uses = { checks: [{ name: "runs", run: ["node", "main.mjs"] }] };
  const { result, attempts } = await run(place, {
    contract: uses,
    run: place.work("developer", async ({ workspace }) => {
      await workspace.write("main.mjs", 'import "lib";\n');
      await workspace.write("node_modules/lib/package.json", '{"exports":"./index.js"}');
      await workspace.write("node_modules/lib/index.js", "");
    }),
  });
  expect(result).toMatchObject({ status: "parked", reason: "help" });
  expect(attempts[0]?.putBack?.files.map(({ path }) => path)).toEqual([
    "node_modules/lib/index.js",
    "node_modules/lib/package.json",
  ]);
});

it("a healer cannot change protected files: those alone are put back, and the rest of its work counts", async () => {
  const place = new TeamPlace();
  const weaken: Healer = {
    name: "weaken",
    categories: ["TEST_FAILURE", "CONTRACT", "UNKNOWN", "IMPORT", "SYNTAX"],
    heal: async ({ workspace }) => {
      await workspace.write("test/sum.test.mjs", "");
      await workspace.write("src/healed.mjs", right);
      return { action: "emptied the tests" };
    },
  };
  const maestro = await place.open({ healers: [weaken], attempts: { max: 1 }, rounds: { max: 1 } });
  const developer = { run: place.work("d", ({ workspace }) => workspace.write("src/sum.mjs", wrong)) };
  const session = await maestro.start(team({ ...developer, maxAttempts: 1 }), { brief: "x" });
  expect(await session.result()).toMatchObject({ status: "parked", reason: "help" });
  const { phases } = await maestro.show(session.id);
  const [attempt] = phases[1]?.personas[0]?.attempts ?? [];
  expect(attempt?.healing).toMatchObject([{ healer: "weaken", outcome: "rolled-back" }]);
  expect(attempt?.putBack?.files).toMatchObject([{ path: "test/sum.test.mjs" }]);
});

it("a persona may change the files of earlier phases that it delivers itself, or that no contract names", async () => {
  const place = new TeamPlace();
  const first = persona("first", {
    contract: { deliverables: ["docs/plan.md"] },
    run: async ({ workspace }) => {
      await workspace.write("docs/plan.md", "1");
      await workspace.write("notes.md", "1");
      return { summary: "" };
    },
  });
  const second = persona("second", {
    contract: { deliverables: ["docs/**"] },
    run: async ({ workspace }) => {
      await workspace.write("docs/plan.md", "2");
      await workspace.write("notes.md", "2");
      return { summary: "" };
    },
  });
  const maestro = await place.open();
  const two = defineTeam("two", {
    phases: [phase("a", { personas: [first] }), phase("b", { personas: [second] })],
  });
  const session = await maestro.start(two, { brief: "x" });
  expect((await session.result()).status).toBe("completed");
  expect(await filesOf(place, maestro, session.id)).toEqual({ "docs/plan.md": "2", "notes.md": "2" });
});

it("a persona cannot replace a protected file that it does not see", async () => {
  const place = new TeamPlace();
  const planner = persona("planner", { run: () => ({ summary: "planned" }) });
  const blind = persona("blind", {
    consumes: ["planner"],
    run: async ({ workspace }) => {
      expect(workspace.list()).toEqual([]);
      await workspace.write("test/sum.test.mjs", "");
      return { summary: "" };
    },
  });
  const maestro = await place.open();
  const two = defineTeam("two", {
    phases: [phase("a", { personas: [tester, planner] }), phase("b", { personas: [blind] })],
  });
  const session = await maestro.start(two, { brief: "x" });
  expect((await session.result()).status).toBe("completed");
  expect(await filesOf(place, maestro, session.id)).toMatchObject({ "test/sum.test.mjs": tests });
  const { phases } = await maestro.show(session.id);
  expect(phases[1]?.putBack).toMatchObject([{ persona: "blind", path: "test/sum.test.mjs" }]);
});

it("personas of one phase settle a clash over a new test file, which is not protected yet", async () => {
  const place = new TeamPlace();
  const writer = (name: string) =>
    persona(name, {
      run: place.work(name, async ({ workspace, failures }) => {
        const known = workspace.list("test/*").length > 0 && failures.length > 0;
        await workspace.write("test/same.test.mjs", known ? "// both\n" : `// ${name}\n`);
      }),
    });
  const maestro = await place.open();
  const both = defineTeam("both", { phases: [phase("a", { personas: [writer("one"), writer("two")] })] });
  const session = await maestro.start(both, { brief: "x" });
  expect((await session.result()).status).toBe("completed");
  expect(await filesOf(place, maestro, session.id)).toEqual({ "test/same.test.mjs": "// both\n" });
});

it("a person may change protected files, and later phases keep them so", async () => {
  const place = new TeamPlace();
  const maestro = await place.open({ attempts: { max: 1 }, rounds: { max: 1 } });
  const developer = place.work("developer", ({ workspace }) => workspace.write("src/sum.mjs", right));
  const session = await maestro.start(team({ run: developer }), { brief: "x", pauseAfter: ["tests"] });
  expect((await session.result()).status).toBe("parked");
  const edited = `${tests}// edited\n`;
  const edits = { tests: { files: { "test/sum.test.mjs": edited } } };
  expect((await (await maestro.resume(session.id, { edits })).result()).status).toBe("completed");
  expect(await filesOf(place, maestro, session.id)).toMatchObject({ "test/sum.test.mjs": edited });
});

it("a rejected phase runs again on its own new tests, which it may change, and is informed of earlier restored files", async () => {
  const place = new TeamPlace();
  const maestro = await place.open({ attempts: { max: 1 }, rounds: { max: 1 } });
  const heard: string[][] = [];
  const developer = place.work("developer", async ({ workspace, putBack }) => {
    heard.push(putBack.map(({ path }) => path));
    await workspace.write("src/sum.mjs", right);
    await workspace.write("test/own.test.mjs", `// ${heard.length}\n`);
    await workspace.write("test/sum.test.mjs", "");
  });
  const session = await maestro.start(team({ run: developer }), { brief: "x", pauseAfter: ["code"] });
  expect((await session.result()).status).toBe("parked");
  await maestro.reject(session.id, { note: "again" });
  expect((await (await maestro.resume(session.id)).result()).status).toBe("parked");
  expect(heard).toEqual([[], ["test/sum.test.mjs"]]);
  expect(await filesOf(place, maestro, session.id)).toMatchObject({
    "test/own.test.mjs": "// 2\n",
    "test/sum.test.mjs": tests,
  });
});
