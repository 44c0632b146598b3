import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { fingerprint, sha256 } from "../../../src/domain/canonical.ts";
import type { Json, JsonObject } from "../../../src/domain/json.ts";
import {
  CheckpointCorrupt,
  defineTeam,
  type MaestroError,
  open,
  persona,
  phase,
} from "../../../src/index.ts";
import { type CheckpointContent, sealCheckpoint } from "../../../src/journal/checkpoint.ts";
import {
  type Content,
  type OpenExport,
  projectAgain,
  readExport,
  sealAgain,
  writeExport,
} from "../../support/sealed-export.ts";

const directories: string[] = [];
async function temporaryDirectory(name: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), `maestro-${name}-`));
  directories.push(directory);
  return directory;
}
afterAll(() => Promise.all(directories.map((each) => rm(each, { recursive: true, force: true }))));

const team = defineTeam("carried", {
  phases: ["plan", "build"].map((name) =>
    phase(name, {
      personas: [
        persona("worker", {
          run: async ({ step, workspace }) => {
            await workspace.write(`${name}.txt`, name);
            return { summary: await step("work", async () => name), outputs: { name } };
          },
        }),
      ],
    }),
  ),
});

let exported: OpenExport;

beforeAll(async () => {
  const directory = await temporaryDirectory("hostile-source");
  const file = join(directory, "export");
  const maestro = await open({ stateDir: join(directory, "state"), teams: [team] });
  const { id } = await (await maestro.start(team, { brief: "b", key: "the-key" })).result();
  await maestro.exportCheckpoints(id, file);
  await maestro.close();
  exported = readExport(file);
});

async function importWith(
  change: (contents: Content[]) => unknown,
  texts = sealAgain,
  rest: JsonObject = exported.rest,
) {
  const contents = structuredClone([...exported.contents]);
  change(contents);
  const directory = await temporaryDirectory("hostile-target");
  const file = join(directory, "export");
  writeExport(file, rest, texts(contents));
  const stateDirectory = join(directory, "state");
  const maestro = await open({ stateDir: stateDirectory, teams: [team] });
  onTestFinished(() => maestro.close());
  const error = await maestro.importCheckpoints(file).then(
    () => undefined,
    (reason: MaestroError) => reason,
  );
  const left = (folder: string) => readdir(join(stateDirectory, folder)).catch((): string[] => []);
  return {
    error,
    maestro,
    sessions: (await maestro.list({ order: "created", limit: 9 })).map(({ id }) => id),
    folders: await left("sessions"),
    artifacts: await left("artifacts"),
  };
}

/** Changes the first row of a kind. */
const inRow =
  (kind: string, change: (body: JsonObject) => JsonObject) =>
  (contents: readonly Content[]): void => {
    const row = contents.flatMap(({ rows }) => rows).find((each) => each.kind === kind);
    if (row === undefined) throw new Error(`the session has no row of kind ${kind}`);
    row.body = JSON.stringify(change(JSON.parse(row.body) as JsonObject));
  };

const rowOf = (contents: readonly Content[], index: number) => {
  const row = contents.flatMap(({ rows }) => rows)[index];
  if (row === undefined) throw new Error("too few rows");
  return row;
};

/** Attachments that the brief did not have. */
const attaching =
  (attachment: JsonObject) =>
  ([first]: readonly Content[]): void => {
    const whole = {
      name: "a.txt",
      mediaType: "text/plain",
      sha256: "ab".repeat(32),
      bytes: 4,
      ...attachment,
    };
    Object.assign(first?.session ?? {}, { attachments: [whole] });
  };

const deep = (depth: number): Json => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`) as Json;

test("imports checkpoints that are sealed again without a change", async () => {
  const { error, sessions, maestro } = await importWith(() => undefined);
  expect(error).toBeUndefined();
  expect(sessions).toEqual([exported.rest["session"]]);
  expect(
    (await maestro.checkpoints(exported.rest["session"] as string)).map(({ valid }) => valid),
  ).not.toContain(false);
});

describe("refuses an export, names the row and the field, and leaves nothing behind, when", () => {
  test.each<[string, (contents: Content[]) => unknown, RegExp]>([
    [
      "a field has the wrong type",
      inRow("attempt.started", (body) => ({ ...body, round: "1" })),
      /checkpoint_plan\.json .*row \d+ \(attempt\.started\): round must be a whole number/,
    ],
    [
      "a nested field has the wrong type",
      inRow("attempt.completed", (body) => ({ ...body, result: { summary: 7, outputs: {} } })),
      /row \d+ \(attempt\.completed\): result\.summary must be a string/,
    ],
    [
      "a field is missing",
      inRow("session.claimed", ({ cause = null }) => ({ cause })),
      /row \d+ \(session\.claimed\): owner is missing/,
    ],
    [
      "a field is unknown",
      inRow("phase.started", (body) => ({ ...body, extra: 1 })),
      /row \d+ \(phase\.started\): extra is not a known field/,
    ],
    [
      "the type of an attachment is none that Maestro takes",
      attaching({ mediaType: "text/html" }),
      /attachments\[0\]\.mediaType must be "image\/png" or/,
    ],
    [
      "a value is outside of its list",
      inRow("session.claimed", (body) => ({ ...body, cause: "magic" })),
      /row \d+ \(session\.claimed\): cause must be "start" or "resume"/,
    ],
    [
      "the name of a phase leads to another folder",
      inRow("phase.started", (body) => ({ ...body, phase: "../../etc" })),
      /row \d+ \(phase\.started\): phase must be a name/,
    ],
    [
      "a hash is not a hash",
      inRow("phase.completed", (body) => ({ ...body, tree: "abc" })),
      /row \d+ \(phase\.completed\): tree must be a SHA-256/,
    ],
    [
      "a time is later than any date",
      (contents) => {
        const last = contents.at(-1)?.rows.at(-1);
        if (last !== undefined) last.at = 8.64e15 + 2;
      },
      /at must be a time in milliseconds/,
    ],
    [
      "a seq leaves no room for later rows",
      (contents) => {
        const last = contents.at(-1)?.rows.at(-1);
        if (last !== undefined) last.seq = Number.MAX_SAFE_INTEGER - 1;
      },
      /seq must be a whole number from 1 to 2\^48/,
    ],
    [
      "a count is beyond 2^53 - 1",
      (contents) => {
        inRow("checkpoint.sealed", (body) => ({ ...body, steps: 0 }))(contents);
        const row = contents.flatMap(({ rows }) => rows).find(({ kind }) => kind === "checkpoint.sealed");
        if (row !== undefined) row.body = row.body.replace('"steps":0', '"steps":9007199254740993');
      },
      /row \d+ \(checkpoint\.sealed\): steps must be a whole number from 0 to 2\^53 - 1/,
    ],
    [
      "the kind of a row is unknown",
      (contents) => (rowOf(contents, 1).kind = "session.owned"),
      /row \d+ \(session\.owned\): this version does not know the kind/,
    ],
    [
      "the kind of a row is a property of every object",
      (contents) => (rowOf(contents, 1).kind = "__proto__"),
      /row \d+ \(__proto__\): this version does not know the kind/,
    ],
    [
      "a row is a step",
      (contents) => (rowOf(contents, 1).kind = "step.function"),
      /row \d+ \(step\.function\): this version does not know the kind/,
    ],
    [
      "the session is created twice",
      (contents) => (rowOf(contents, 1).kind = "session.created"),
      /row \d+ \(session\.created\): a session is created once/,
    ],
    [
      "two rows have the same seq",
      (contents) => (rowOf(contents, 1).seq = rowOf(contents, 0).seq),
      /row \d+ .*: its seq is out of order/,
    ],
    [
      "rows are in the wrong order",
      (contents) => contents[1] && (contents[1].rows = contents[1].rows.toReversed()),
      /row \d+ .*: its seq is out of order/,
    ],
    [
      "a row is behind the end of its checkpoint",
      (contents) => {
        const last = contents[1]?.rows.at(-1);
        if (last !== undefined) last.seq = 1_000_000;
      },
      /row 1000000 .*: its seq is out of order/,
    ],
    [
      "a row does not follow from the rows before it",
      inRow("attempt.completed", (body) => ({ ...body, started: 99 })),
      /row \d+ \(attempt\.completed\): it does not follow from the rows before it/,
    ],
    [
      "a row is nested deeper than the limit",
      inRow("attempt.completed", (body) => ({ ...body, result: deep(300) })),
      /row \d+ \(attempt\.completed\): its body is nested deeper than the limit/,
    ],
    [
      "a row has the key __proto__",
      inRow("phase.started", () => JSON.parse('{"phase":"plan","__proto__":{"tree":"x"}}') as JsonObject),
      /row \d+ \(phase\.started\): its body has a key "__proto__"/,
    ],
    [
      "the body of a row is not JSON",
      (contents) => (rowOf(contents, 0).body = "{"),
      /row \d+ .*: its body is not valid JSON/,
    ],
    [
      "the body of a row is not an object",
      (contents) => (rowOf(contents, 0).body = "[]"),
      /row \d+ .*: must be an object/,
    ],
    [
      "a sum of money is not a safe integer",
      (contents) => use(contents, { cost_micro_usd: 1.5 }),
      /is damaged: usage\[0\]\.sums\.cost_micro_usd must be a whole number/,
    ],
    [
      "sums of money add up to more than 2^53 - 1",
      (contents) => use(contents, { cost_micro_usd: 2 ** 53 - 1 }, { cost_micro_usd: 2 ** 53 - 1 }),
      /checkpoint_build\.json .*: usage has sums of more than 1000000000000 together/,
    ],
    [
      "a checkpoint ends where it begins",
      (contents) => contents[1] && (contents[1].after = contents[1].journal.seq),
      /is damaged: after must be less than journal\.seq/,
    ],
    [
      "the name of a checkpoint leads to another folder",
      (contents) => contents[1] && (contents[1].phase = "../../../escaped"),
      /is damaged: phase must be a name/,
    ],
    [
      "the recorded team is not a team",
      (contents) => contents[0] && (contents[0].session = { ...terms(contents), definition: { phases: 5 } }),
      /is damaged: session\.definition\.phases must be a list/,
    ],
    [
      "the summary of a result differs from its row",
      (contents) => {
        const results = contents[1]?.results as Record<string, { summary: string }> | undefined;
        if (results?.["worker"] !== undefined) results["worker"].summary = "something else";
      },
      /checkpoint_plan\.json .*: results is not what its rows say/,
    ],
    [
      "the list of files differs from the tree that a row names",
      (contents) => contents[1] && (contents[1].files = []),
      /checkpoint_plan\.json .*: files are not the files that its rows name/,
    ],
    [
      "a decision is in the summary and in no row",
      (contents) =>
        contents[1] &&
        (contents[1].decisions = [{ title: "t", choice: "c", reason: "r", rejected: [], at: 1 }]),
      /checkpoint_plan\.json .*: decisions is not what its rows say/,
    ],
    [
      "a checkpoint has no completed phase",
      (contents) => {
        const plan = contents[1];
        if (plan !== undefined) plan.rows = plan.rows.filter(({ kind }) => kind !== "phase.completed");
      },
      /checkpoint_plan\.json .*: phase is not completed in its rows/,
    ],
    [
      "a row seals another checkpoint than the one before it",
      inRow("checkpoint.sealed", (body) => ({ ...body, steps: 7 })),
      /checkpoint_build\.json .*\(checkpoint\.sealed\): \w+ is not that of the checkpoint before/,
    ],
    [
      "the seal of the checkpoint before is missing",
      (contents) => {
        const build = contents[2];
        if (build !== undefined) build.rows = build.rows.filter(({ kind }) => kind !== "checkpoint.sealed");
      },
      /checkpoint_build\.json .*: its rows lack the seal of the checkpoint before it/,
    ],
    [
      "a row is about a phase that the team does not have",
      inRow("phase.started", (body) => ({ ...body, phase: "other" })),
      /row \d+ \(phase\.started\): phase is not a phase of its team/,
    ],
    [
      "a row is about a persona that the team does not have",
      inRow("attempt.started", (body) => ({ ...body, persona: "other" })),
      /row \d+ \(attempt\.started\): persona is not a persona of that phase/,
    ],
    [
      "a sum of usage has a name that no report knows",
      (contents) => use(contents, { __calls: 1 }),
      /is damaged: usage\[0\]\.sums\.__calls must be "calls" or/,
    ],
    [
      "a day of usage is no day",
      (contents) => {
        use(contents, { calls: 1 });
        const [used] = (contents.at(-1)?.usage ?? []) as unknown as { day: string }[];
        if (used !== undefined) used.day = "2026-99-99";
      },
      /is damaged: usage\[0\]\.day must be a day/,
    ],
    [
      "the same place has usage twice",
      (contents) => {
        use(contents, { calls: 1 }, { calls: 2 });
        for (const used of (contents.at(-1)?.usage ?? []) as unknown as { model: string }[])
          used.model = "same";
      },
      /checkpoint_build\.json .*: usage has a place twice/,
    ],
  ])("%s", async (_title, change, says) => {
    const { error, sessions, folders, artifacts } = await importWith(change);
    expect(error?.message).toMatch(says);
    expect(error?.message).toMatch(/^The export \S+ is damaged: /);
    expect(CheckpointCorrupt.is(error)).toBe(true);
    expect({ sessions, folders, artifacts }).toEqual({ sessions: [], folders: [], artifacts: [] });
  });

  test.each<[string, (contents: Content[]) => unknown, RegExp]>([
    [
      "a checkpoint in the middle is missing",
      (contents) => contents.splice(1, 1),
      /a checkpoint before checkpoint_build\.json is missing/,
    ],
    [
      "the checkpoint of the start is missing",
      (contents) => contents.splice(0, 1),
      /the checkpoint of the session's start is missing/,
    ],
    [
      "the team has another fingerprint than it says",
      (contents) =>
        contents[0] && (contents[0].session = { ...terms(contents), teamFingerprint: "0".repeat(32) }),
      /its fingerprint is that of another team/,
    ],
    [
      "the team has a value that no team file may have",
      (contents) => changeTeam(contents, { parallel: -1 }),
      /parallel is -1; it must be a whole number from 1 to 100/,
    ],
    [
      "the team has a key that no team file has",
      (contents) => changeTeam(contents, { run: "evil" }),
      /the team has an unknown key "run"/,
    ],
    [
      "the phases of the team form a circle",
      (contents) => {
        const [plan, build] = (terms(contents).definition as { phases: JsonObject[] }).phases;
        changeTeam(contents, { phases: [{ ...plan, dependsOn: ["build"] }, build ?? {}] });
      },
      /its team is not one of this version: .*plan.*build/,
    ],
    [
      "an attachment is not in it",
      attaching({}),
      /the attachment "a\.txt" is missing or not what its row says/,
    ],
    [
      "the name of an attachment would end its place in a prompt",
      attaching({ name: 'a">', sha256: sha256("plan"), bytes: 4 }),
      /the attachment "a\\">" is missing or not what its row says/,
    ],
    [
      "an attachment is another type of file",
      attaching({ mediaType: "image/png", sha256: sha256("plan"), bytes: 4 }),
      /the attachment "a\.txt" is missing or not what its row says/,
    ],
  ])("%s", async (_title, change, says) => {
    const { error, sessions, folders, artifacts } = await importWith(change, projectAgain);
    expect(error?.message).toMatch(says);
    expect(error?.exitCode).toBe(2);
    expect({ sessions, folders, artifacts }).toEqual({ sessions: [], folders: [], artifacts: [] });
  });

  test.each<[string, (file: { artifacts: string[] }) => unknown, RegExp]>([
    [
      "a list of files is missing",
      ({ artifacts }) => remove(artifacts, (text) => decoded(text).startsWith("[[")),
      /the list of files [0-9a-f]{12}, which its rows name, is missing/,
    ],
    [
      "the content of a file is missing",
      ({ artifacts }) => remove(artifacts, (text) => decoded(text) === "build"),
      /the file "build\.txt" of tree [0-9a-f]{12} is missing/,
    ],
    [
      "it has an artifact that nothing names",
      ({ artifacts }) => artifacts.push(Buffer.from("more").toString("base64")),
      /nothing in it names the artifact/,
    ],
    ["it has an artifact twice", ({ artifacts }) => artifacts.push(artifacts[0] ?? ""), /an artifact twice/],
    ["an artifact is not base64", ({ artifacts }) => artifacts.push("%%%"), /is not base64/],
    [
      "it has another key",
      (file) => Object.assign(file, { more: 1 }),
      /not in the one form that exports have/,
    ],
  ])("%s", async (_title, change, says) => {
    const rest = structuredClone(exported.rest) as unknown as { artifacts: string[] };
    change(rest);
    const { error, sessions, folders, artifacts } = await importWith(() => undefined, sealAgain, rest);
    expect(error?.message).toMatch(says);
    expect(error?.exitCode).toBe(2);
    expect({ sessions, folders, artifacts }).toEqual({ sessions: [], folders: [], artifacts: [] });
  });

  test("a row was changed and only the seal was made again", async () => {
    const change = inRow("attempt.completed", (body) => ({ ...body, checks: [] }));
    const { error, folders } = await importWith(change, (contents) =>
      contents.map((content) => sealCheckpoint(content).text),
    );
    expect(error?.message).toMatch(/checkpoint_plan\.json .*: its rows do not have the digest that it seals/);
    expect(folders).toEqual([]);
  });

  test("the first row has another hash than its chain gives", async () => {
    const change = (contents: Content[]) =>
      contents[0] && (contents[0].journal = { seq: 1, hash: "A".repeat(43) });
    const { error, folders } = await importWith(change, (contents) =>
      contents.map((content) => sealCheckpoint(content).text),
    );
    expect(error?.message).toMatch(/checkpoint_init\.json .*: journal is not what its rows say/);
    expect(folders).toEqual([]);
  });

  test("two checkpoints have the same name", async () => {
    const { error, folders } = await importWith(
      () => undefined,
      (contents) => [...sealAgain(contents), ...sealAgain(contents).slice(-1)],
    );
    expect(error?.message).toMatch(/two of its checkpoints have one name/);
    expect(folders).toEqual([]);
  });
});

test("refuses a session whose key belongs to another session, and leaves no files", async () => {
  const directory = await temporaryDirectory("taken-key");
  const file = join(directory, "export");
  writeExport(file, exported.rest, sealAgain(exported.contents));
  const maestro = await open({ stateDir: join(directory, "state"), teams: [team] });
  onTestFinished(() => maestro.close());
  const { id } = await maestro.create(team, { brief: "another", key: "the-key" });
  await expect(maestro.importCheckpoints(file)).rejects.toThrow(`its key "the-key" belongs to session ${id}`);
  expect(await readdir(join(directory, "state", "sessions"))).toEqual([id]);
});

function use(contents: readonly Content[], ...sums: readonly Record<string, number>[]): void {
  const last = contents.at(-1);
  if (last === undefined) return;
  last.usage = sums.map((each, index) => ({
    day: "2026-01-01",
    phase: "build",
    persona: "worker",
    model: `model-${index}`,
    sums: each,
  }));
}

/** Changes the recorded team, with the fingerprint that it then has. */
function changeTeam(contents: Content[], change: JsonObject): void {
  const [init] = contents;
  const definition = { ...(terms(contents).definition as JsonObject), ...change };
  const teamFingerprint = fingerprint(definition);
  if (init !== undefined) init.session = { ...terms(contents), definition, teamFingerprint };
  for (const content of contents) content.teamFingerprint = teamFingerprint;
}

const decoded = (text: string): string => Buffer.from(text, "base64").toString();

function remove(items: string[], test: (item: string) => boolean): void {
  const index = items.findIndex(test);
  if (index === -1) throw new Error("there is no such artifact");
  items.splice(index, 1);
}

function terms(contents: readonly Content[]): NonNullable<CheckpointContent["session"]> {
  const session = contents[0]?.session;
  if (session === undefined) throw new Error("the first checkpoint has no session");
  return session;
}

describe("refuses a key that a person may type to reach another session:", () => {
  async function importWithKey(keyOf: (other: string) => string) {
    const directory = await temporaryDirectory("hostile-key");
    const file = join(directory, "export");
    const maestro = await open({ stateDir: join(directory, "state"), teams: [team] });
    onTestFinished(() => maestro.close());
    const { id } = await maestro.create(team, { brief: "b" });
    const contents = structuredClone([...exported.contents]);
    Object.assign(contents[0]?.session ?? {}, { key: keyOf(id) });
    writeExport(file, exported.rest, projectAgain(contents));
    const error = await maestro.importCheckpoints(file).then(
      () => undefined,
      (reason: MaestroError) => reason,
    );
    expect((await maestro.list({ order: "created", limit: 9 })).map((each) => each.id)).toEqual([id]);
    return { error, id };
  }

  test("the beginning of its id", async () => {
    const { error, id } = await importWithKey((other) => other.slice(0, 4));
    expect(error).toMatchObject({ code: "SESSION_CONFLICT" });
    expect(error?.message).toContain(`is the beginning of the id of session ${id}`);
  });

  test("a text that reads as an id", async () => {
    const { error } = await importWithKey(
      (other) => `${other.slice(0, -1)}${other.endsWith("0") ? "1" : "0"}`,
    );
    expect(error?.message).toMatch(/its key reads as the id of a session/);
  });
});
