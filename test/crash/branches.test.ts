import { afterEach, describe, expect, test } from "vitest";
import type { StartOptions } from "../../src/api/open.ts";
import { open } from "./support/package.ts";
import { Place } from "./support/place.ts";
import { teams } from "./support/teams.ts";

const places: Place[] = [];
afterEach(async () => {
  for (const place of places.splice(0)) await place.remove();
});

async function opened() {
  const place = new Place();
  places.push(place);
  const team = teams.branches({ marks: place.marksFile, door: "" });
  const maestro = await open({ stateDir: place.stateDir, teams: [team] });
  return { maestro, team, place };
}

/** Both branches changed both.md, and only the left one changed one.md. */
const met = {
  mediator: {
    outputs: { read: "both.md: first\nleft\nthird\none.md: first\nsecond\nleft\n" },
    summary: "mediator did 1 steps",
  },
};

describe("a phase that joins two branches sees the changes of both", () => {
  test("when the branches ran in this session", async () => {
    const { maestro, team } = await opened();
    const session = await maestro.start(team, { brief: "x" });
    expect((await session.result()).results["meet"]).toEqual(met);
    await maestro.close();
  });

  test("when a fork kept the branches of its parent", async () => {
    const { maestro, team, place } = await opened();
    const session = await maestro.start(team, { brief: "x", until: "right" });
    await session.result();
    const ran = place.marks;
    const fork = await maestro.fork(session.id, { at: "meet" });
    expect((await maestro.executeBatch(fork.id)).results["meet"]).toEqual(met);
    expect(place.marks).toEqual([...ran, "mediator, attempt 1: read"]);
    expect((await maestro.show(fork.id)).decisions.map(({ title }) => title)).toEqual([
      "Which version of both.md",
    ]);
    await maestro.close();
  });

  test("when the branches were given from outside", async () => {
    const { maestro, team, place } = await opened();
    const files = (both: string, one: string) => ({ files: { "both.md": both, "one.md": one } });
    const given: StartOptions["given"] = {
      root: files("first\nsecond\nthird\n", "first\nsecond\nthird\n"),
      left: files("first\nleft\nthird\n", "first\nsecond\nleft\n"),
      right: {},
    };
    const session = await maestro.start(team, { brief: "x", from: "meet", given });
    expect((await session.result()).results["meet"]).toEqual(met);
    expect(place.marks).toEqual(["mediator, attempt 1: read"]);
    await maestro.close();
  });
});
