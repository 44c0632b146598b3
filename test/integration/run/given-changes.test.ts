import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  defineTeam,
  type Maestro,
  type PersonaOptions,
  persona,
  phase,
  type Team,
} from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

const writes = (place: TeamPlace, name: string, path: string, more: Partial<PersonaOptions> = {}) =>
  persona(name, {
    ...more,
    run: place.work(name, ({ workspace }) => workspace.write(path, `${name}\n`).then(() => ({ by: name }))),
  } as PersonaOptions);

/** Writes down which files it sees, and whose results. */
const looks = (place: TeamPlace, name: string, more: Partial<PersonaOptions> = {}) =>
  persona(name, {
    ...more,
    run: place.work(name, ({ workspace, context }) => ({
      files: workspace.list(),
      results: Object.keys(context.results["design"] ?? {}),
    })),
  } as PersonaOptions);

const given = { design: { outputs: { k: 1 }, files: { "design.md": "GIVEN\n" } } };

/** Requirements, then a design that came from outside, then two who read it. */
function team(place: TeamPlace, design: ReturnType<typeof persona>[], consumes?: string[]): Team {
  return defineTeam("given", {
    phases: [
      phase("requirements", { personas: [writes(place, "analyst", "req.md")] }),
      phase("design", { personas: design }),
      phase("build", {
        review: true,
        personas: [looks(place, "dev", consumes === undefined ? {} : { consumes })],
      }),
      phase("ship", { personas: [writes(place, "op", "ship.md")] }),
    ],
  });
}

const architect = (place: TeamPlace, more: Partial<PersonaOptions> = {}) =>
  writes(place, "architect", "design.md", more);
const dba = (place: TeamPlace, more: Partial<PersonaOptions> = {}) =>
  writes(place, "dba", "schema.sql", more);

/** Parked for the review of `build`. */
async function parked(
  place: TeamPlace,
  maestro: Maestro,
  before: Team,
  gift: Record<string, { files: Record<string, string> }> = given,
) {
  const session = await maestro.start(before, { brief: "x", given: gift });
  expect(await session.result()).toMatchObject({ reason: "review" });
  place.ran.length = 0;
  return session.id;
}

async function accept(place: TeamPlace, maestro: Maestro, id: string, after: Team) {
  const { personas } = await maestro.plan(id, { team: after, acceptChanges: true });
  const planned = Object.fromEntries(personas.map(({ persona, action }) => [persona, action]));
  const result = await (await maestro.resume(id, { team: after, acceptChanges: true })).result();
  return { planned, result, ran: place.ran.splice(0) };
}

describe("a phase from outside with changed personas", () => {
  it("runs a persona that joined on the given files, and later phases read both", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const id = await parked(place, maestro, team(place, [architect(place)]));
    const after = team(place, [architect(place), dba(place)]);
    const { planned, result, ran } = await accept(place, maestro, id, after);
    expect(planned).toEqual({ analyst: "kept", architect: "kept", dba: "runs", dev: "may-run", op: "runs" });
    expect(ran).toEqual(["dba", "dev"]);
    expect(result.results["build"]?.["dev"]?.outputs).toEqual({
      files: ["design.md", "req.md", "schema.sql"],
      results: ["architect", "dba"],
    });
    expect(result.results["design"]?.["architect"]?.outputs).toEqual({ k: 1 });
    expect(await place.filesOf(maestro, id)).toMatchObject({ "design.md": "GIVEN\n", "schema.sql": "dba\n" });
  });

  it("runs a persona that replaces one with a given result, with the given documents", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const id = await parked(place, maestro, team(place, [architect(place)], ["architect"]));
    const contract = { deliverables: [{ name: "design", files: ["design.md"] }] };
    const designer = looks(place, "designer", { contract });
    const { planned, result, ran } = await accept(place, maestro, id, team(place, [designer], ["designer"]));
    expect(planned).toMatchObject({ analyst: "kept", designer: "runs", dev: "may-run" });
    expect(ran).toEqual(["designer", "dev"]);
    expect(result.results["design"]?.["designer"]?.outputs).toMatchObject({ files: ["design.md", "req.md"] });
    // Unchanged files that it delivers are passed on.
    expect(result.results["build"]?.["dev"]?.outputs).toEqual({
      files: ["design.md"],
      results: ["designer"],
    });
  });

  it("stays as given when a persona leaves or is replaced", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const id = await parked(place, maestro, team(place, [architect(place), dba(place)]), {
      design: { files: { "design.md": "GIVEN\n" } },
    });
    const contract = { deliverables: [{ name: "design", files: ["design.md"] }] };
    const { planned, ran } = await accept(place, maestro, id, team(place, [architect(place, { contract })]));
    expect(planned).toMatchObject({ architect: "kept" });
    expect(ran).toEqual(["dev"]);
    expect((await maestro.show(id)).phases[1]?.source).toMatchObject({ kind: "given" });
  });

  it("runs no persona to repair given files that do not fulfill the contract", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const contract = { deliverables: [{ name: "design", files: ["other.md"] }] };
    const id = await parked(place, maestro, team(place, [architect(place, { contract })]));
    const { result, ran } = await accept(
      place,
      maestro,
      id,
      team(place, [architect(place, { contract }), dba(place)]),
    );
    expect(ran).toEqual(["dba", "dev"]);
    expect(result).toMatchObject({ reason: "review" });
    expect((await maestro.show(id)).phases[1]).toMatchObject({ gate: { verdict: "failed" } });
  });

  it("parks for review where earlier phases made another version of a given file", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const build = (design: ReturnType<typeof persona>[]) =>
      defineTeam("clash", {
        phases: [
          phase("requirements", { personas: [writes(place, "analyst", "design.md")] }),
          phase("design", { personas: design }),
          phase("build", { personas: [looks(place, "dev")] }),
        ],
      });
    const session = await maestro.start(build([architect(place)]), {
      brief: "x",
      given,
      until: "requirements",
    });
    await session.result();
    place.ran.length = 0;
    const { result, ran } = await accept(place, maestro, session.id, build([architect(place), dba(place)]));
    expect(ran).toEqual(["dba"]);
    expect(result).toMatchObject({ status: "parked", reason: "review" });
    expect((await maestro.show(session.id)).phases[1]).toMatchObject({ review: "awaiting" });
  });

  it("keeps the given files through a second change, a rejection and a lost database", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const reviewed = (...joined: string[]) =>
      defineTeam("given", {
        phases: [
          phase("requirements", { personas: [writes(place, "analyst", "req.md")] }),
          phase("design", {
            review: true,
            personas: [architect(place), ...joined.map((name) => writes(place, name, "schema.sql"))],
          }),
          phase("build", { personas: [looks(place, "dev")] }),
        ],
      });
    const session = await maestro.start(reviewed(), { brief: "x", given, only: ["requirements"] });
    await session.result();
    const { id } = session;
    place.ran.length = 0;
    expect(await accept(place, maestro, id, reviewed("data"))).toMatchObject({
      ran: ["data"],
      result: { reason: "review" },
    });
    await maestro.close();
    for (const end of ["", "-wal", "-shm"]) rmSync(join(place.stateDir, `maestro.db${end}`), { force: true });
    const again = await place.open();
    await again.approve(id);
    const second = await accept(place, again, id, reviewed("data2"));
    expect(second).toMatchObject({ ran: ["data2"], result: { reason: "review" } });
    expect(await place.filesOf(again, id)).toMatchObject({ "design.md": "GIVEN\n" });
    await again.reject(id, { note: "no" });
    const resumed = await (await again.resume(id, { team: reviewed("data2") })).result();
    expect(resumed).toMatchObject({ reason: "review" });
    expect(place.ran.splice(0).toSorted()).toEqual(["architect", "data2"]);
    expect(await place.filesOf(again, id)).toMatchObject({ "design.md": "architect\n" });
  });

  it("returns to the team with its given files and a persona that works", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const id = await parked(place, maestro, team(place, [architect(place)]));
    const without = defineTeam("given", {
      phases: [
        phase("requirements", { personas: [writes(place, "analyst", "req.md")] }),
        phase("build", { review: true, personas: [looks(place, "dev")] }),
        phase("ship", { personas: [writes(place, "op", "ship.md")] }),
      ],
    });
    await accept(place, maestro, id, without);
    const { ran } = await accept(place, maestro, id, team(place, [architect(place), dba(place)]));
    expect(ran).toEqual(["dba", "dev"]);
    expect(await place.filesOf(maestro, id)).toMatchObject({ "design.md": "GIVEN\n", "schema.sql": "dba\n" });
  });
});
