import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { defineTeam, type Maestro, persona, phase, type Team } from "../../../src/index.ts";
import { TeamPlace } from "../run/place.ts";

interface Made {
  readonly name: string;
  readonly dependsOn?: readonly string[];
  /** Another version is another contract, and other work. */
  readonly version?: number;
  /** Its output is the same in every version. */
  readonly steady?: boolean;
  readonly review?: boolean;
}

let place: TeamPlace;
/** Personas that need help now. */
const stuck = new Set<string>();
beforeEach(() => {
  place = new TeamPlace();
  stuck.clear();
});

/** Each phase has one writer, who says what it found. */
const teamOf = (...phases: readonly Made[]): Team =>
  defineTeam("made", {
    phases: phases.map(({ name, dependsOn, version = 1, steady = false, review = false }) =>
      phase(name, {
        review,
        ...(dependsOn && { dependsOn }),
        personas: [
          persona(`p${name}`, {
            maxAttempts: 1,
            contract: { deliverables: [{ name: `v${version}`, files: [name] }] },
            run: place.work(`p${name}`, async ({ workspace }) => {
              if (stuck.has(name)) throw new Error(`${name} is stuck`);
              const found = await Promise.all(workspace.list().map((path) => workspace.readText(path)));
              const own = `${name}${steady ? "" : version}`;
              await workspace.write(name, [...found.filter((text) => !text.startsWith(name)), own].join(" "));
            }),
          }),
        ],
      }),
    ),
  });

const openWith = (team: Team): Promise<Maestro> =>
  place.open({ teams: [team], rounds: { max: 1, baseDelayMs: 1, maxDelayMs: 1 } });

async function accept(maestro: Maestro, id: string, team: Team) {
  place.ran.length = 0;
  return (await maestro.resume(id, { team, acceptChanges: true })).result();
}

async function proceed(maestro: Maestro, id: string) {
  place.ran.length = 0;
  return (await maestro.resume(id)).result();
}

async function loseDatabase(maestro: Maestro, team: Team): Promise<Maestro> {
  await maestro.close();
  for (const name of readdirSync(place.stateDir))
    if (name.startsWith("maestro.db")) rmSync(join(place.stateDir, name));
  stuck.clear();
  return openWith(team);
}

const statusOf = async (maestro: Maestro, id: string) =>
  Object.fromEntries((await maestro.show(id)).phases.map(({ name, status }) => [name, status]));

const fileOf = (id: string, name: string) => join(place.stateDir, "sessions", id, name);

const listed = async (maestro: Maestro, id: string) =>
  (await maestro.checkpoints(id)).map(({ file, valid }) => `${file}${valid ? "" : " invalid"}`);

describe("a phase that an accepted change reset", () => {
  const last = { name: "c", review: true };
  const first = () => teamOf({ name: "a" }, { name: "b" }, last, { name: "d" });
  const second = () => teamOf({ name: "a", version: 2 }, { name: "b" }, last, { name: "d" });

  async function changed(): Promise<{ maestro: Maestro; id: string }> {
    const maestro = await openWith(first());
    const { id } = await (await maestro.start(first(), { brief: "x" })).result();
    stuck.add("b");
    expect(await accept(maestro, id, second())).toMatchObject({ status: "parked", reason: "help" });
    return { maestro, id };
  }

  test("is not done when the database is lost, and is again a new revision", async () => {
    const { maestro: before, id } = await changed();
    const maestro = await loseDatabase(before, second());
    expect(await proceed(maestro, id)).toMatchObject({ status: "parked", reason: "review" });
    expect(place.ran).toEqual(["pb", "pc"]);
    expect(place.notices.join()).toContain("with 1 finished phase.");
    await maestro.approve(id);
    expect(await proceed(maestro, id)).toMatchObject({ status: "completed" });
    expect(await place.filesOf(maestro, id)).toMatchObject({ a: "a2", b: "a2 b1", c: "a2 a2 b1 c1" });
    expect((await listed(maestro, id)).sort()).toEqual([
      "checkpoint_a.2.json",
      "checkpoint_a.json",
      "checkpoint_b.2.json",
      "checkpoint_b.json",
      "checkpoint_c.2.json",
      "checkpoint_c.json",
      "checkpoint_d.json",
      "checkpoint_init.json",
    ]);
    const again = await loseDatabase(maestro, second());
    expect(await statusOf(again, id)).toEqual({
      a: "completed",
      b: "completed",
      c: "completed",
      d: "completed",
    });
    expect(await place.filesOf(again, id)).toMatchObject({ c: "a2 a2 b1 c1" });
  });

  test("is not done when the session is exported and imported elsewhere", async () => {
    const inserted = () => teamOf({ name: "a" }, { name: "new" }, { name: "b" }, last, { name: "d" });
    const here = await openWith(first());
    const { id } = await (await here.start(first(), { brief: "x" })).result();
    stuck.add("b");
    await accept(here, id, inserted());
    const file = join(place.stateDir, "carried");
    await here.exportCheckpoints(id, file);
    await here.close();
    stuck.clear();
    const there = await place.open({ stateDir: join(place.stateDir, "there"), teams: [inserted()] });
    await there.importCheckpoints(file, { trust: true });
    expect(await statusOf(there, id)).toEqual({
      a: "completed",
      new: "completed",
      b: "pending",
      c: "pending",
      d: "pending",
    });
    expect(await proceed(there, id)).toMatchObject({ status: "parked", reason: "review" });
    expect(place.ran).toEqual(["pb", "pc"]);
    expect(await place.filesOf(there, id)).toMatchObject({ new: "a1 new1", b: "a1 a1 new1 b1" });
  });

  test("is not done when only a branch beside it was sealed since", async () => {
    const branches = (version: number) =>
      teamOf(
        { name: "a" },
        { name: "x", dependsOn: ["a"], version },
        { name: "y", dependsOn: ["a"], version },
        last,
      );
    const team = branches(2);
    const before = await openWith(branches(1));
    const { id } = await (await before.start(branches(1), { brief: "x" })).result();
    stuck.add("y");
    await accept(before, id, team);
    const maestro = await loseDatabase(before, team);
    expect(await statusOf(maestro, id)).toEqual({
      a: "completed",
      x: "completed",
      y: "pending",
      c: "pending",
    });
    await proceed(maestro, id);
    expect(place.ran).toEqual(["py", "pc"]);
    expect(await place.filesOf(maestro, id)).toMatchObject({ x: "a1 x2", y: "a1 y2" });
  });

  test("keeps the results of personas whose input is unchanged", async () => {
    const team = (version: number) =>
      teamOf(
        { name: "a", version, steady: true },
        { name: "y", dependsOn: ["a"], version },
        { name: "b", dependsOn: ["a"] },
        last,
      );
    const before = await openWith(team(1));
    const { id } = await (await before.start(team(1), { brief: "x" })).result();
    stuck.add("y");
    await accept(before, id, team(2));
    const maestro = await loseDatabase(before, team(2));
    expect(await statusOf(maestro, id)).toEqual({ a: "completed", y: "pending", b: "pending", c: "pending" });
    await proceed(maestro, id);
    expect(place.ran).toEqual(["py"]);
  });

  test("is asked about again when nothing was sealed since: the session is as it was before the change", async () => {
    const before = await openWith(first());
    const { id } = await (await before.start(first(), { brief: "x" })).result();
    stuck.add("a");
    await accept(before, id, second());
    const maestro = await loseDatabase(before, second());
    await expect(proceed(maestro, id)).rejects.toMatchObject({ code: "TEAM_CHANGED" });
    await accept(maestro, id, second());
    expect(place.ran).toEqual(["pa", "pb", "pc"]);
    expect(await place.filesOf(maestro, id)).toMatchObject({ a: "a2", b: "a2 b1" });
  });

  test("of a fork is not taken from its parent again", async () => {
    const { maestro: before, id } = await changed();
    stuck.clear();
    await proceed(before, id);
    await before.approve(id);
    const fork = await before.fork(id, { at: "d" });
    const third = teamOf({ name: "a", version: 3 }, { name: "b" }, last, { name: "d" });
    stuck.add("b");
    await accept(before, fork.id, third);
    const maestro = await loseDatabase(before, third);
    await proceed(maestro, fork.id);
    expect(place.ran).toEqual(["pb", "pc"]);
    expect(await place.filesOf(maestro, fork.id)).toMatchObject({ a: "a3", b: "a3 b1" });
  });

  test("without any files runs again, also after the database was lost", async () => {
    const team = (title: string) =>
      defineTeam("silent", {
        phases: [
          phase("a", {
            personas: [
              persona("pa", { contract: { outputs: { type: "object", title } }, run: place.work("pa") }),
            ],
          }),
          phase("b", { review: true, personas: [persona("pb", { run: place.work("pb") })] }),
          phase("c", { personas: [persona("pc", { run: place.work("pc") })] }),
        ],
      });
    const before = await openWith(team("one"));
    const { id } = await (await before.start(team("one"), { brief: "x" })).result();
    const maestro = await loseDatabase(before, team("two"));
    await accept(maestro, id, team("two"));
    expect(place.ran).toEqual(["pa"]);
  });
});

describe("a checkpoint that is missing", () => {
  const team = (version: number) =>
    teamOf({ name: "a", version }, { name: "b" }, { name: "c", review: true }, { name: "d" });

  test("of a given phase behind a changed one is written again, and the phase stays given", async () => {
    const before = await openWith(team(1));
    const given = { b: { files: { "b.txt": "given" } } };
    const { id } = await (await before.start(team(1), { brief: "x", given })).result();
    await accept(before, id, team(2));
    const bytes = readFileSync(fileOf(id, "checkpoint_b.json"));
    rmSync(fileOf(id, "checkpoint_b.json"));
    expect(await listed(before, id)).toContain("checkpoint_b.json invalid");
    await before.approve(id);
    await proceed(before, id);
    expect(readFileSync(fileOf(id, "checkpoint_b.json")).equals(bytes)).toBe(true);
    expect((await listed(before, id)).filter((file) => file.endsWith("invalid"))).toEqual([]);
    const files = await place.filesOf(before, id);
    const maestro = await loseDatabase(before, team(2));
    expect(Object.values(await statusOf(maestro, id))).toEqual(Array(4).fill("completed"));
    expect(await place.filesOf(maestro, id)).toEqual(files);
  });

  test("lets the phases that were sealed after it run again, and given phases stay given", async () => {
    const before = await openWith(team(1));
    const given = { b: { files: { "b.txt": "given" } } };
    const { id } = await (await before.start(team(1), { brief: "x", given })).result();
    rmSync(fileOf(id, "checkpoint_b.json"));
    const maestro = await loseDatabase(before, team(1));
    await proceed(maestro, id);
    // Each checkpoint carries the rows since the one before, so what follows a gap is unknown.
    expect(place.ran).toEqual(["pa", "pc"]);
    expect(await place.filesOf(maestro, id)).toMatchObject({ "b.txt": "given" });
  });

  test("of an earlier revision, also of a phase the team no longer has, is written again as it was sealed", async () => {
    const maestro = await openWith(team(1));
    const { id } = await (await maestro.start(team(1), { brief: "x" })).result();
    await maestro.reject(id, { note: "shorter" });
    await proceed(maestro, id);
    await accept(maestro, id, teamOf({ name: "a", version: 2 }, { name: "c", review: true }, { name: "d" }));
    const names = (await maestro.checkpoints(id)).map(({ file }) => file);
    expect(names).toHaveLength(7);
    const before = names.map((name) => readFileSync(fileOf(id, name), "utf8"));
    for (const name of names) rmSync(fileOf(id, name));
    writeFileSync(fileOf(id, "checkpoint_b.json"), "{}");
    await maestro.approve(id);
    expect(names.map((name) => readFileSync(fileOf(id, name), "utf8"))).toEqual(before);
    expect(place.notices.join()).toContain("Checkpoint c.2 of session");
    await proceed(maestro, id);
    rmSync(fileOf(id, "checkpoint_c.json"));
    // Nothing is left to drive in it; its files are mended all the same.
    await proceed(maestro, id);
    expect((await listed(maestro, id)).filter((file) => file.endsWith("invalid"))).toEqual([]);
  });

  test("or damaged does not stop an export, also of a session that is canceled or came back from its files", async () => {
    const here = await openWith(team(1));
    const { id } = await (await here.start(team(1), { brief: "x" })).result();
    const file = join(place.stateDir, "carried");
    await here.exportCheckpoints(id, file);
    const whole = readFileSync(file);
    await here.cancel(id);
    const damage = () => {
      rmSync(fileOf(id, "checkpoint_b.json"));
      writeFileSync(fileOf(id, "checkpoint_init.json"), "{}");
    };
    damage();
    expect(await here.exportCheckpoints(id, file)).toMatchObject({ checkpoints: 4 });
    const there = await place.open({ stateDir: join(place.stateDir, "there"), teams: [team(1)] });
    await there.importCheckpoints(file, { trust: true });
    const folder = join(place.stateDir, "there", "sessions", id);
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    expect(await there.exportCheckpoints(id, file)).toMatchObject({ checkpoints: 4, bytes: whole.length });
  });
});
