import { describe, expect, it } from "vitest";
import { defineTeam, type PersonaContext, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

/** a, b, c in a line; pb reads only what pa said, pc all files. */
function line(place: TeamPlace) {
  const read = async ({ workspace }: PersonaContext) =>
    Object.fromEntries(
      await Promise.all(["b.txt", "more.txt"].map(async (path) => [path, await workspace.readText(path)])),
    );
  return defineTeam("line", {
    phases: [
      phase("a", {
        personas: [
          persona("pa", { run: place.work("pa", ({ workspace }) => workspace.write("a.txt", "a\n")) }),
        ],
      }),
      phase("b", {
        review: true,
        personas: [
          persona("pb", {
            consumes: ["pa"],
            run: place.work("pb", async ({ workspace, context }) => {
              await workspace.write("b.txt", "by pb\n");
              await workspace.write("seen.txt", JSON.stringify(context.results));
            }),
          }),
        ],
      }),
      phase("c", { personas: [persona("pc", { run: place.work("pc", read) })] }),
    ],
  });
}

const byPerson = { "b.txt": "by a person\n", "more.txt": "more\n" };

/** b waited for review, and a person put other files in its place. */
async function edited(place: TeamPlace) {
  const maestro = await place.open();
  const session = await maestro.start(line(place), { brief: "x" });
  expect(await session.result()).toMatchObject({ status: "parked", reason: "review" });
  const resumed = await maestro.resume(session.id, { edits: { b: { files: byPerson } } });
  expect(await resumed.result()).toMatchObject({
    status: "completed",
    results: { c: { pc: { outputs: byPerson } } },
  });
  place.ran.length = 0;
  return { maestro, id: session.id };
}

describe("a person's edit of the files of a phase", () => {
  it("is still there in a fork that reuses the phase, and the plan includes it", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await edited(place);
    const { personas } = await maestro.planFork(id, { at: "b" });
    expect(personas.map(({ action }) => action)).toEqual(["kept", "reused", "reused"]);
    const fork = await maestro.fork(id, { at: "b" });
    expect(await maestro.executeBatch(fork.id)).toMatchObject({ reason: "review" });
    await maestro.approve(fork.id);
    expect(await maestro.executeBatch(fork.id)).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual([]);
    expect(await place.filesOf(maestro, fork.id)).toMatchObject(byPerson);
  });

  it("is applied to the new work of a fork, also in a fork of it that starts before the phase", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await edited(place);
    const first = await maestro.fork(id, { at: "b" });
    const edits = { a: { outputs: { need: "another" } } };
    const second = await maestro.fork(first.id, { at: "b", edits });
    await maestro.executeBatch(second.id);
    expect(place.ran).toEqual(["pb"]);
    const files = await place.filesOf(maestro, second.id);
    expect(files).toMatchObject(byPerson);
    expect(files["seen.txt"]).toContain("another");
  });
});
