import { describe, expect, it } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

const writer = (place: TeamPlace, name: string, more = {}) =>
  persona(name, {
    ...more,
    run: place.work(name, async ({ workspace, context }) => {
      await workspace.write(`${name}.txt`, name);
      const before = Object.values(context.results).flatMap((results) => Object.keys(results));
      const saw = workspace.list().includes("pa.txt") ? await workspace.readText("pa.txt") : "";
      return { saw, before: before.join() };
    }),
  });

/** Three phases, the first two done, the second waiting for review. */
const team = (place: TeamPlace, { joined = [], v = 1 }: { joined?: readonly string[]; v?: number } = {}) =>
  defineTeam("both", {
    phases: [
      phase("a", { personas: [writer(place, "pa"), ...joined.map((name) => writer(place, name))] }),
      phase("b", {
        review: true,
        personas: [writer(place, "pb", { contract: { outputs: { type: "object", description: `v${v}` } } })],
      }),
      phase("c", { personas: [writer(place, "pc")] }),
    ],
  });

async function parked(place: TeamPlace) {
  const maestro = await place.open();
  const session = await maestro.start(team(place), { brief: "x" });
  expect(await session.result()).toMatchObject({ status: "parked", reason: "review" });
  place.ran.length = 0;
  return { maestro, id: session.id };
}

describe("an edit together with an accepted change", () => {
  it.each([
    ["that the change lets run again", "a", { joined: ["pa2"] }],
    ["that rests on one that the change lets run again", "b", { joined: ["pa2"] }],
  ])("of a phase %s is refused, and nothing is written", async (_, edited, change) => {
    const place = new TeamPlace();
    const { maestro, id } = await parked(place);
    const edits = { [edited]: { files: { "note.md": "by a person" } } };
    const both = { team: team(place, change), acceptChanges: true, edits };
    const refused = {
      code: "SESSION_CONFLICT",
      message: expect.stringMatching(`accepted change runs phase ${edited} again`) as string,
      advice: expect.stringMatching(/--accept-changes.*without the edit/) as string,
    };
    await expect(maestro.plan(id, both)).rejects.toMatchObject(refused);
    const before = await maestro.show(id);
    await expect(maestro.resume(id, both).then((session) => session.result())).rejects.toMatchObject(refused);
    expect(await maestro.show(id)).toEqual(before);
    const { edits: __, ...alone } = both;
    expect(await (await maestro.resume(id, alone)).result()).toMatchObject({ status: "parked" });
    const { status, results } = await (
      await maestro.resume(id, { edits: { b: edits[edited] ?? {} } })
    ).result();
    expect(status).toBe("completed");
    expect(place.ran).toEqual(["pa2", "pb", "pc"]);
    expect(results["c"]?.["pc"]?.outputs).toMatchObject({ before: "pa,pa2,pb" });
    expect(await place.filesOf(maestro, id)).toMatchObject({ "note.md": "by a person", "pa2.txt": "pa2" });
  });

  it("of a phase whose dependents all run again is made in place, and they work on it", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await parked(place);
    const edits = { a: { files: { "pa.txt": "by a person" } } };
    const resumed = await maestro.resume(id, { team: team(place, { v: 2 }), acceptChanges: true, edits });
    expect(await resumed.result()).toMatchObject({ status: "parked", reason: "review" });
    expect(place.ran).toEqual(["pb"]);
    const { results } = await (await maestro.resume(id, { edits: { b: { summary: "seen" } } })).result();
    expect(results["b"]?.["pb"]?.outputs).toMatchObject({ saw: "by a person" });
    expect(await place.filesOf(maestro, id)).toMatchObject({ "pa.txt": "by a person" });
  });

  it("of a phase with a changed gate is judged by the new gate", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const gated = (gate: number) =>
      defineTeam("gated", {
        phases: [
          phase("a", {
            gate,
            personas: [
              writer(place, "pa", {
                contract: {
                  deliverables: ["x", "y", "z"].map((name) => ({ name, files: [name], must: false })),
                },
              }),
            ],
          }),
          phase("b", { personas: [writer(place, "pb")] }),
        ],
      });
    const session = await maestro.start(gated(0.9), { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "parked", reason: "review" });
    const edits = { a: { files: { x: "x", y: "y" } } };
    const both = { team: gated(0.6), acceptChanges: true, edits };
    expect(await (await maestro.resume(session.id, both)).result()).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["pa", "pb"]);
    expect((await maestro.show(session.id)).phases[0]).toMatchObject({
      gate: { threshold: 0.6, verdict: "passed" },
      source: { kind: "edited" },
    });
    expect(Object.keys(await place.filesOf(maestro, session.id))).toEqual(["pa.txt", "pb.txt", "x", "y"]);
  });
});
