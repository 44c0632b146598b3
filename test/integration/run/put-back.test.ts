import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineTeam, type Maestro, persona, phase, type Team } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

const accept = async (maestro: Maestro, id: string, team: Team) =>
  (await maestro.resume(id, { team, acceptChanges: true })).result();

/** A line of phases, each with one writer; a person looks at the last. */
const line = (place: TeamPlace, names: readonly string[], text = "") =>
  defineTeam("line", {
    phases: names.map((name) =>
      phase(name, {
        review: name === "c",
        personas: [
          persona(`p${name}`, {
            ...(text !== "" && name === "b" && { contract: { outputs: { type: "object", title: text } } }),
            run: place.work(`p${name}`, ({ workspace }) => workspace.write(name, `${name}${text}`)),
          }),
        ],
      }),
    ),
  });

const whole = ["a", "b", "c"];

async function removed(place: TeamPlace, given = {}) {
  const maestro = await place.open();
  const session = await maestro.start(line(place, whole), { brief: "x", until: "b", given });
  await session.result();
  expect(await accept(maestro, session.id, line(place, ["a", "c"]))).toMatchObject({ status: "parked" });
  await maestro.approve(session.id);
  place.ran.length = 0;
  return { maestro, id: session.id };
}

const checkpointsOf = async (maestro: Maestro, id: string) =>
  (await maestro.checkpoints(id)).map(
    ({ phase: name, revision, valid }) => `${name} ${revision}${valid ? "" : " invalid"}`,
  );

describe("a phase that was removed and returns to the team", () => {
  it("in another form is a new revision, and the first checkpoint stays as it was", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await removed(place);
    const file = join(place.stateDir, "sessions", id, "checkpoint_b.json");
    const before = readFileSync(file, "utf8");
    await accept(maestro, id, line(place, whole, "!"));
    expect(place.ran).toEqual(["pb", "pc"]);
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(await checkpointsOf(maestro, id)).toEqual(["init 1", "a 1", "b 1", "c 1", "b 2", "c 2"]);
    expect(await place.filesOf(maestro, id)).toEqual({ a: "a", b: "b!", c: "c!" });
  });

  it("unchanged keeps its results, also in another process and in a fork", async () => {
    const place = new TeamPlace();
    const { maestro: first, id } = await removed(place);
    await first.close();
    const maestro = await place.open();
    await accept(maestro, id, line(place, whole));
    expect(place.ran).toEqual(["pc"]);
    expect(await place.filesOf(maestro, id)).toEqual({ a: "a", b: "b", c: "c" });
    await maestro.approve(id);
    expect(await maestro.executeBatch(id)).toMatchObject({ status: "completed" });
    const fork = await maestro.fork(id, { at: "b" });
    place.ran.length = 0;
    await maestro.executeBatch(fork.id);
    expect(place.ran).toEqual([]);
  });

  it("from outside still has its given files", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await removed(place, { b: { files: { "given.md": "g" } } });
    await accept(maestro, id, line(place, whole));
    expect(place.ran).toEqual(["pc"]);
    expect(await place.filesOf(maestro, id)).toEqual({ a: "a", c: "c", "given.md": "g" });
    expect((await maestro.show(id)).phases[1]).toMatchObject({
      status: "completed",
      source: { kind: "given" },
    });
  });

  it("after the database was lost is a new revision too, and begins on the files of its dependencies", async () => {
    const place = new TeamPlace();
    const { maestro: first, id } = await removed(place);
    await first.close();
    for (const name of readdirSync(place.stateDir))
      if (name.startsWith("maestro.db")) rmSync(join(place.stateDir, name));
    const maestro = await place.open({ teams: [line(place, ["a", "c"])] });
    expect((await maestro.show(id)).phases.map(({ name }) => name)).toEqual(["a", "c"]);
    await accept(maestro, id, line(place, whole, "!"));
    expect(await checkpointsOf(maestro, id)).toEqual(["init 1", "a 1", "b 1", "c 1", "b 2", "c 2"]);
    expect(await place.filesOf(maestro, id)).toEqual({ a: "a", b: "b!", c: "c!" });
  });
});
