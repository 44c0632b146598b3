import { describe, expect, it } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

const names = ["constructor", "toString", "valueOf", "hasOwnProperty", "isPrototypeOf"];

/** A line of phases with names that every object knows, and personas called the same. */
function oddTeam(place: TeamPlace, consumes?: boolean) {
  const seen: unknown[] = [];
  const phases = ["start", ...names].map((name, index) =>
    phase(name, {
      personas: [
        persona(`${name}_p`, {
          ...(consumes && index > 0 && { consumes: [`${["start", ...names][index - 1]}_p`] }),
          run: place.work(name, ({ context }) => {
            seen.push(Object.keys(context.results), structuredClone(context.results));
            return { by: name };
          }),
        }),
        ...(index === 0 ? [persona("constructor", { run: place.work("persona constructor") })] : []),
      ],
    }),
  );
  return { team: defineTeam("odd", { phases }), seen };
}

describe("names that every object has as a property", () => {
  it("are ordinary names of phases and personas", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(oddTeam(place).team, { brief: "x" });
    const { status, results } = await session.result();
    expect(status).toBe("completed");
    expect(Object.keys(results)).toEqual(["start", ...names]);
    expect(place.ran.toSorted()).toEqual(["start", "persona constructor", ...names].toSorted());
    await maestro.fork(session.id, { at: "toString", edits: { constructor: { outputs: { by: "hand" } } } });
  });

  it("run, although another phase is given", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const given = { start: { outputs: { start_p: { by: "hand" } } } };
    const session = await maestro.start(oddTeam(place).team, { brief: "x", given });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(names);
    const { phases } = await maestro.show(session.id);
    expect(phases.map(({ source }) => source.kind)).toEqual(["given", ...names.map(() => "work")]);
  });

  it("reach their consumers, and no other persona does", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const { team, seen } = oddTeam(place, true);
    const before = Object.getOwnPropertyNames(Object);
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(Object.getOwnPropertyNames(Object)).toEqual(before);
    const [keys, results] = seen.slice(4, 6);
    expect(keys).toEqual(["constructor"]);
    expect(results).toEqual({
      ["constructor"]: { constructor_p: { summary: "constructor is done", outputs: { by: "constructor" } } },
    });
  });
});
