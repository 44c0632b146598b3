import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  defineTeam,
  type Healer,
  type Maestro,
  type PersonaContext,
  type PersonaOptions,
  persona,
  phase,
} from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

const sums = {
  "package.json": JSON.stringify({ name: "sums", version: "1.2.3", type: "module", exports: "./index.js" }),
  "index.js": "export const add = (a, b) => a + b;\n",
};
const main = 'import { add } from "sums";\nif (add(1, 2) !== 3) process.exit(1);\n';
const declared = JSON.stringify({ name: "p", dependencies: { sums: "^1.0.0" } });
const runs = { checks: [{ name: "runs", run: ["node", "main.mjs"] }] };

/** A folder as the author of a team has it on the machine. */
function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "maestro-package-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

const healer = (heal: Healer["heal"]): Healer => ({
  name: "install",
  categories: ["IMPORT", "SYNTAX", "CONTRACT", "UNKNOWN"],
  heal,
});

const installs = (from: string, name = "sums"): Healer =>
  healer(async ({ installPackage }) => ({ action: await installPackage(name, from) }));

interface Session {
  readonly healers: readonly Healer[];
  readonly files?: Readonly<Record<string, string>>;
  readonly options?: Omit<PersonaOptions, "run">;
}

async function run({ healers, files = {}, options = {} }: Session) {
  const place = new TeamPlace();
  const maestro = await place.open({ healers, attempts: { max: 2, baseDelayMs: 1 }, rounds: { max: 1 } });
  const found: string[][] = [];
  const work = place.work("worker", async ({ workspace }) => {
    found.push([...workspace.list(), ...workspace.list("**/node_modules/**")]);
    for (const [path, text] of Object.entries({ "main.mjs": main, "package.json": declared, ...files }))
      await workspace.write(path, text);
  });
  const worker = persona("worker", { contract: runs, ...options, run: work } as PersonaOptions);
  const team = defineTeam("installed", { phases: [phase("work", { personas: [worker] })] });
  const session = await maestro.start(team, { brief: "x" });
  const result = await session.result();
  const [attempt] = (await maestro.show(session.id)).phases[0]?.personas[0]?.attempts ?? [];
  return { place, maestro, session, result, attempt, foundByTheNext: found[1] };
}

const passed = {
  healer: "install",
  action: "installed sums@1.2.3: node_modules/sums/index.js, node_modules/sums/package.json",
  did: {
    kind: "installed-dependency",
    name: "sums",
    version: "1.2.3",
    paths: ["node_modules/sums/index.js", "node_modules/sums/package.json"],
  },
  outcome: "passed",
};

describe("a dependency that a healer installs", () => {
  it("makes the check pass: the same attempt completes, marked as healed", async () => {
    const from = folderWith(sums);
    const own = healer(async ({ failure, installPackage }) => {
      if (failure.category !== "IMPORT" || !failure.message.includes("'sums'")) return undefined;
      return { action: await installPackage("sums", from) };
    });
    const { result, attempt } = await run({ healers: [own] });
    expect(result).toMatchObject({ status: "completed" });
    expect(attempt).toMatchObject({ status: "completed", healing: [passed] });
  });

  it("may be written file by file", async () => {
    const own = healer(async ({ workspace }) => {
      for (const [path, text] of Object.entries(sums))
        await workspace.write(`node_modules/sums/${path}`, text);
      return { action: { kind: "installed-dependency", name: "sums", version: "1.2.3", paths: [] } };
    });
    expect((await run({ healers: [own] })).attempt).toMatchObject({ status: "completed", healing: [passed] });
  });

  it("is available to later phases and is not delivered", async () => {
    const place = new TeamPlace();
    const maestro = await place.open({ healers: [installs(folderWith(sums))] });
    const listed: (readonly string[])[] = [];
    const worker = persona("worker", {
      contract: runs,
      run: place.work("worker", async ({ workspace }) => {
        await workspace.write("main.mjs", main);
        await workspace.write("package.json", declared);
      }),
    });
    const tester = persona("tester", {
      contract: runs,
      run: place.work("tester", ({ workspace }) => {
        listed.push(workspace.list(), workspace.list("**/node_modules/**"));
      }),
    });
    const team = defineTeam("installed", {
      phases: [phase("work", { personas: [worker] }), phase("test", { personas: [tester] })],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["worker", "tester"]);
    expect(listed).toEqual([["main.mjs", "package.json"], passed.did.paths]);
    const delivered = ["main.mjs", "package.json"];
    expect(Object.keys(await place.filesOf(maestro, session.id))).toEqual(delivered);
    expect((await maestro.show(session.id)).artifacts.map(({ path }) => path)).toEqual(delivered);
  });

  it("stays when a tool of the project changes it", async () => {
    const from = folderWith(sums);
    const own = healer(async ({ installPackage, runTool }) => {
      const action = await installPackage("sums", from);
      await runTool(["rm", "-rf", "node_modules"]);
      return { action };
    });
    expect((await run({ healers: [own] })).attempt).toMatchObject({ status: "completed", healing: [passed] });
  });

  it("replaces another version of itself", async () => {
    const old = folderWith({
      "package.json": JSON.stringify({ version: "0.1.0", main: "old.js" }),
      "old.js": "exports.sum = 0;\n",
    });
    const from = folderWith(sums);
    const own = healer(async ({ installPackage }) => {
      await installPackage("sums", old);
      return { action: await installPackage("sums", from) };
    });
    expect((await run({ healers: [own] })).attempt).toMatchObject({ status: "completed", healing: [passed] });
  });

  it("includes its own dependencies, and may be scoped", async () => {
    const from = folderWith({
      "package.json": JSON.stringify({ version: "2.0.0", main: "index.js" }),
      "index.js": 'exports.add = require("plus").plus;\n',
      "node_modules/plus/package.json": JSON.stringify({ version: "1.0.0", main: "plus.js" }),
      "node_modules/plus/plus.js": "exports.plus = (a, b) => a + b;\n",
      "node_modules/.bin/keep": "",
    });
    symlinkSync("../plus/plus.js", join(from, "node_modules/.bin/plus"));
    const { attempt } = await run({
      healers: [installs(from, "@some/sums")],
      files: {
        "main.mjs": main.replace('"sums"', '"@some/sums"'),
        "package.json": JSON.stringify({ devDependencies: { "@some/sums": "2.0.0" } }),
      },
    });
    expect(attempt).toMatchObject({
      status: "completed",
      healing: [{ did: { name: "@some/sums", version: "2.0.0" }, outcome: "passed" }],
    });
    expect(JSON.stringify(attempt)).not.toContain(".bin");
  });

  it("is taken from the store of a package manager, which links to it", async () => {
    const store = folderWith(sums);
    const shelf = folderWith({});
    linkSync(join(store, "index.js"), join(shelf, "index.js"));
    symlinkSync(store, join(shelf, "sums"));
    const { attempt } = await run({ healers: [installs(join(shelf, "sums"))] });
    expect(attempt).toMatchObject({ status: "completed", healing: [passed] });
  });

  it("is rolled back when the check still fails", async () => {
    const from = folderWith({ ...sums, "index.js": "export const add = (a, b) => a - b;\n" });
    const { attempt, foundByTheNext } = await run({ healers: [installs(from)] });
    expect(attempt).toMatchObject({
      status: "failed",
      healing: [{ did: { kind: "installed-dependency", name: "sums" }, outcome: "rolled-back" }],
    });
    expect(foundByTheNext).toEqual(["main.mjs", "package.json"]);
  });

  it("is rolled back where the persona's policy forbids the files", async () => {
    const { attempt, foundByTheNext } = await run({
      healers: [installs(folderWith(sums))],
      options: { policy: { write: ["*.mjs", "package.json"] } },
    });
    expect(attempt).toMatchObject({
      status: "failed",
      healing: [
        {
          did: { kind: "installed-dependency", name: "sums" },
          outcome: "rolled-back",
          forbidden: "node_modules/sums/index.js",
        },
      ],
    });
    expect(foundByTheNext).toEqual(["main.mjs", "package.json"]);
  });

  it("is never the target of a corrected import of the project", async () => {
    const { attempt } = await run({
      healers: [],
      files: {
        "main.mjs": 'import "./add.mjs";\n',
        "lib/add.mjs": "export {};\n",
        "node_modules/sums/add.mjs": "export {};\n",
      },
    });
    expect(attempt).toMatchObject({
      status: "completed",
      healing: [{ did: { imports: [{ path: "main.mjs", to: "./lib/add.mjs" }] }, outcome: "passed" }],
    });
  });

  it("is not a deliverable, because it is not delivered", async () => {
    const { attempt } = await run({
      healers: [installs(folderWith({ ...sums, "README.md": "Sums.\n" }))],
      options: { contract: { deliverables: ["**/*.md"] } },
    });
    expect(attempt).toMatchObject({ status: "failed", healing: [{ outcome: "rolled-back" }] });
  });
});

describe("a dependency that may not be installed", () => {
  const byHand = healer(async ({ workspace }) => {
    for (const [path, text] of Object.entries(sums)) await workspace.write(`node_modules/sums/${path}`, text);
    return { action: { kind: "installed-dependency", name: "sums", version: "1.2.3", paths: [] } };
  });
  const undeclared = /^failed: package\.json does not declare sums\./;

  it.each([
    ["that package.json does not name", "{}", undeclared],
    ["that it names elsewhere", JSON.stringify({ scripts: { sums: "1" } }), undeclared],
    ["with no text for a version", JSON.stringify({ dependencies: { sums: {} } }), undeclared],
    ["in a list", JSON.stringify({ dependencies: ["sums"] }), undeclared],
    ["of a package.json that is no object", "[]", /^failed: package\.json is not an object/],
    ["of a package.json that is not JSON", "{", /^failed: package\.json/],
    ["of an endless package.json", `{"a":"${"x".repeat(1024 * 1024)}"}`, /^failed: package\.json/],
  ])("(%s) is rolled back and recorded", async (_, text, says) => {
    const helped = installs(folderWith(sums));
    const { attempt, foundByTheNext } = await run({
      healers: [byHand, helped],
      files: { "package.json": text },
    });
    const refused = { action: expect.stringMatching(says) as string, outcome: "rolled-back" };
    expect(attempt).toMatchObject({ status: "failed", healing: [refused, refused] });
    expect(foundByTheNext).toEqual(["main.mjs", "package.json"]);
  });

  const answers = (action: object, path = "node_modules/sums/index.js"): Healer =>
    healer(async ({ workspace }) => {
      await workspace.write("node_modules/sums/package.json", sums["package.json"]);
      await workspace.write(path, sums["index.js"]);
      return { action: { kind: "installed-dependency", name: "sums", version: "1.2.3", ...action } as never };
    });

  it.each([
    ["another version than is there", answers({ version: "9.9.9" }), /version 1\.2\.3, and not 9\.9\.9/],
    ["no version", answers({ version: 5 }), /version must be/],
    ["a name that leads elsewhere", answers({ name: "../main.mjs" }), /name must be/],
    ["no name", answers({ name: null }), /name must be/],
    ["a package that is not there", answers({ name: "toString" }), /not a file of the package toString/],
    ["a file of the project", answers({}, "src/a.mjs"), /"src\/a\.mjs" is not a file of the package sums/],
    ["a file of another package", answers({}, "node_modules/sums2/a.js"), /not a file of the package sums/],
  ])("(%s) is rolled back and recorded", async (_, own, says) => {
    const { attempt, foundByTheNext } = await run({ healers: [own] });
    expect(attempt).toMatchObject({
      status: "failed",
      healing: [{ action: expect.stringMatching(says) as string, outcome: "rolled-back" }],
    });
    expect(foundByTheNext).toEqual(["main.mjs", "package.json"]);
  });

  it.each([
    ["a link in it", (at: string) => symlinkSync("/etc/hostname", join(at, "host")), /host.*symbolic link/],
    ["a linked folder in it", (at: string) => symlinkSync("/etc", join(at, "lib")), /lib.*symbolic link/],
    ["a file that is too large", (at: string) => writeFileSync(join(at, "z"), Buffer.alloc(9e6)), /9000000/],
    [
      "too many files",
      (at: string) => {
        for (let index = 0; index < 2_001; index += 1) writeFileSync(join(at, `${index}.js`), "");
      },
      /more than 2000 files/,
    ],
    ["no version", (at: string) => writeFileSync(join(at, "package.json"), "{}"), /has no version/],
    ["no folder", (at: string) => rmSync(at, { recursive: true }), /ENOENT/],
  ])("from a folder with %s leaves nothing behind", async (_, spoil, says) => {
    const from = folderWith(sums);
    spoil(from);
    const { attempt, foundByTheNext } = await run({ healers: [installs(from)] });
    expect(attempt).toMatchObject({
      status: "failed",
      healing: [{ action: expect.stringMatching(says) as string, outcome: "rolled-back" }],
    });
    expect(foundByTheNext).toEqual(["main.mjs", "package.json"]);
  });
});

it("a process that dies after the healing leaves the files to the next one, even if their folder is gone", async () => {
  const place = new TeamPlace();
  const from = folderWith(sums);
  const asked: string[] = [];
  const own = healer(async ({ installPackage }) => {
    asked.push("install");
    return { action: await installPackage("sums", from) };
  });
  const work = async ({ step, workspace }: PersonaContext) => {
    await step("write", async () => {
      place.ran.push("write");
      await workspace.write("main.mjs", main);
      await workspace.write("package.json", declared);
    });
    return { summary: "written" };
  };
  const worker = persona("worker", { contract: runs, run: work });
  const team = defineTeam("installed", { phases: [phase("work", { personas: [worker] })] });
  let closing: Promise<void> | undefined;
  const first: Maestro = await place.open({
    teams: [team],
    healers: [own],
    onEvent: (event) => {
      if (event.kind === "step" && event.name === "install") closing ??= first.close();
    },
  });
  const session = await first.start(team, { brief: "x", key: "k" });
  await session.result().catch(() => undefined);
  expect(closing).toBeDefined();
  await closing;
  rmSync(from, { recursive: true });
  const second = await place.open({ teams: [team], healers: [own] });
  expect((await second.find("k")).status).toBe("running");
  expect(await (await second.resume("k")).result()).toMatchObject({ status: "completed" });
  expect((await second.show("k")).phases[0]?.personas[0]?.attempts).toMatchObject([
    { status: "completed", healing: [passed] },
  ]);
  expect([...place.ran, ...asked]).toEqual(["write", "install"]);
});
