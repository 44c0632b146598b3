import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineTeam, type ForkOptions, type Maestro, persona, phase, type Team } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

const given = { design: { outputs: { k: 1 }, files: { "design.md": "GIVEN\n" } } };

function writes(place: TeamPlace, name: string) {
  return persona(name, {
    run: place.work(name, ({ workspace }) => workspace.write(`${name}.md`, `${name}\n`)),
  });
}

/** requirements -> design (from outside) -> build -> ship. */
function team(place: TeamPlace, joins: readonly string[] = [], review = false): Team {
  return defineTeam("given-forks", {
    phases: [
      phase("requirements", { review, personas: [writes(place, "analyst")] }),
      phase("design", { personas: ["architect", ...joins].map((name) => writes(place, name)) }),
      phase("build", { personas: [writes(place, "dev")] }),
      phase("ship", { personas: [writes(place, "op")] }),
    ],
  });
}

async function finished(place: TeamPlace) {
  const maestro = await place.open();
  const session = await maestro.start(team(place), { brief: "x", given });
  expect(await session.result()).toMatchObject({ status: "completed" });
  place.ran.length = 0;
  return { maestro, id: session.id };
}

/** The plan, the personas that then run, and the files of the fork. */
async function forked(place: TeamPlace, maestro: Maestro, id: string, options: ForkOptions) {
  const { personas } = await maestro.planFork(id, options);
  const planned = Object.fromEntries(personas.map(({ persona, action }) => [persona, action]));
  const fork = await maestro.fork(id, options);
  const more = options.team === undefined ? {} : { team: options.team };
  const result = await (await maestro.resume(fork.id, more)).result();
  expect(result).toMatchObject({ status: "completed" });
  return { id: fork.id, planned, ran: place.ran.splice(0), files: await place.filesOf(maestro, fork.id) };
}

describe("a fork of a session with a given phase", () => {
  it("keeps the given phase when it starts before it", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await finished(place);
    const fresh = await forked(place, maestro, id, { at: "requirements", fresh: true });
    expect(fresh.planned).toMatchObject({ analyst: "runs", architect: "kept", dev: "runs", op: "runs" });
    expect(fresh.ran).toEqual(["analyst", "dev", "op"]);
    expect(fresh.files).toMatchObject({ "design.md": "GIVEN\n", "analyst.md": "analyst\n" });
    expect(fresh.files).not.toHaveProperty("architect.md");
    const again = await forked(place, maestro, fresh.id, { at: "requirements" });
    expect(again.planned).toEqual({ analyst: "reused", architect: "kept", dev: "reused", op: "reused" });
    expect(again.files).toEqual(fresh.files);
    expect((await maestro.show(again.id)).phases[1]?.source).toMatchObject({ kind: "given" });
  });

  it("keeps the given phase as a person edited it", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await finished(place);
    const edits = { design: { files: { "design.md": "EDITED\n" } } };
    const first = await forked(place, maestro, id, { at: "build", edits });
    const again = await forked(place, maestro, first.id, { at: "requirements", fresh: true });
    expect(again.ran).toEqual(["analyst", "dev", "op"]);
    expect(again.files).toMatchObject({ "design.md": "EDITED\n" });
    const both = { ...edits, requirements: { files: { "analyst.md": "mine\n" } } };
    const other = await forked(place, maestro, id, { at: "build", edits: both });
    expect(other.files).toMatchObject({ "design.md": "EDITED\n", "analyst.md": "mine\n" });
  });

  it("runs the given phase when the fork starts there", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await finished(place);
    const { ran, files } = await forked(place, maestro, id, { at: "design" });
    expect(ran).toEqual(["architect", "dev", "op"]);
    expect(files).not.toHaveProperty("design.md");
  });

  it("runs a persona that joined with all given files, and so does a fork of that fork", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await finished(place);
    const joined = team(place, ["dba"]);
    const first = await forked(place, maestro, id, { at: "build", team: joined });
    expect(first.planned).toMatchObject({ architect: "kept", dba: "runs", dev: "may-run" });
    expect(first.ran).toEqual(["dba", "dev", "op"]);
    expect(first.files).toMatchObject({ "design.md": "GIVEN\n", "dba.md": "dba\n" });
    const again = await forked(place, maestro, first.id, { at: "requirements", team: joined });
    expect(again.planned).toEqual({
      analyst: "reused",
      architect: "kept",
      dba: "reused",
      dev: "reused",
      op: "reused",
    });
    expect(again.files).toEqual(first.files);
    const fresh = await forked(place, maestro, first.id, { at: "requirements", fresh: true, team: joined });
    expect(fresh.ran).toEqual(["analyst", "dba", "dev", "op"]);
    expect(fresh.files).toEqual(first.files);
  });

  it("is refused where it would take over work from before a persona joined, with the command that works", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await finished(place);
    const options = { at: "ship", team: team(place, ["dba"]) };
    await expect(maestro.fork(id, options)).rejects.toMatchObject({
      message: expect.stringContaining("dba"),
      advice: expect.stringContaining(`maestro fork ${id} --at build --team <file>`),
    });
  });
});

it("a fork keeps its given phase when the database is lost before it ran, without its parent", async () => {
  const place = new TeamPlace();
  const { maestro, id } = await finished(place);
  const joined = team(place, ["dba"]);
  const before = await maestro.fork(id, { at: "requirements", fresh: true });
  const behind = await maestro.fork(id, { at: "build", team: joined });
  await maestro.close();
  for (const file of readdirSync(place.stateDir))
    if (file.startsWith("maestro.db")) rmSync(join(place.stateDir, file));
  const later = await place.open();
  // A fork has its own copy of its parent's history from its creation on.
  for (const [fork, of, ran] of [
    [before.id, team(place), ["analyst", "dev", "op"]],
    [behind.id, joined, ["dba", "dev", "op"]],
  ] as const) {
    expect(await (await later.resume(fork, { team: of })).result()).toMatchObject({ status: "completed" });
    expect(place.ran.splice(0)).toEqual(ran);
    expect(await place.filesOf(later, fork)).toMatchObject({ "design.md": "GIVEN\n" });
  }
});

it("a fork that starts before a given phase resumes on another machine, without its parent", async () => {
  const place = new TeamPlace();
  const stuck = new Set<string>();
  const analyst = persona("analyst", {
    maxAttempts: 1,
    run: place.work("analyst", () => {
      if (stuck.has("analyst")) throw new Error("stuck");
    }),
  });
  const mine = defineTeam("carried", {
    phases: [
      phase("requirements", { personas: [analyst] }),
      phase("design", { personas: [writes(place, "architect")] }),
      phase("build", { personas: [writes(place, "dev")] }),
    ],
  });
  const maestro = await place.open({ rounds: { max: 1, baseDelayMs: 1, maxDelayMs: 1 } });
  const session = await maestro.start(mine, { brief: "x", given });
  await session.result();
  const fork = await maestro.fork(session.id, { at: "requirements", fresh: true });
  stuck.add("analyst");
  // Of all its phases only what was given is sealed.
  expect(await (await maestro.resume(fork.id)).result()).toMatchObject({ reason: "help" });
  const file = join(place.stateDir, "carried");
  await maestro.exportCheckpoints(fork.id, file);
  stuck.clear();
  place.ran.length = 0;
  const there = await place.open({ stateDir: mkdtempSync(join(place.stateDir, "there-")), teams: [mine] });
  await there.importCheckpoints(file, { trust: true });
  expect(await (await there.resume(fork.id)).result()).toMatchObject({ status: "completed" });
  expect(place.ran).toEqual(["analyst", "dev"]);
  expect(await place.filesOf(there, fork.id)).toMatchObject({ "design.md": "GIVEN\n" });
});

describe("a reviewer of a phase before a given one", () => {
  it("edits it in place, because a given phase does not depend on it", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(team(place, [], true), { brief: "x", given });
    expect(await session.result()).toMatchObject({ reason: "review" });
    const edits = { requirements: { files: { "analyst.md": "mine\n" } } };
    expect(await (await maestro.resume(session.id, { edits })).result()).toMatchObject({
      status: "completed",
    });
    expect(place.ran).toEqual(["analyst", "dev", "op"]);
    expect(await place.filesOf(maestro, session.id)).toMatchObject({
      "analyst.md": "mine\n",
      "design.md": "GIVEN\n",
    });
  });

  it("gets a command that works where other phases have already used the given one", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(team(place, [], true), { brief: "x", given, only: ["build"] });
    await session.result();
    await maestro.executePhase(session.id, "requirements");
    place.ran.length = 0;
    const edits = { requirements: { files: { "analyst.md": "mine\n" } } };
    const edit = async () => (await maestro.resume(session.id, { edits })).result();
    await expect(edit()).rejects.toMatchObject({
      message: expect.stringContaining("build already used its result"),
      advice: expect.stringContaining(`maestro fork ${session.id} --at build --edit requirements=<file>`),
    });
    // The edit is the reviewer's decision: what it replaces needs no approval.
    const { ran, files } = await forked(place, maestro, session.id, { at: "build", edits });
    expect(ran).toEqual(["dev", "op"]);
    expect(files).toMatchObject({ "analyst.md": "mine\n", "design.md": "GIVEN\n" });
  });
});
