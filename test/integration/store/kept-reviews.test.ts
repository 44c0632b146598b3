import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineTeam, type Maestro, persona, phase, type Team } from "../../../src/index.ts";
import { TeamPlace } from "../run/place.ts";

/** plan -> text (reviewed) -> build (reviewed) -> ship; the text says what reviewers said. */
const teamOf = (place: TeamPlace, version: number): Team =>
  defineTeam("reviewed", {
    phases: [
      phase("plan", {
        personas: [
          persona("planner", {
            contract: { outputs: { type: "object", title: `version ${version}` } },
            run: place.work("planner"),
          }),
        ],
      }),
      phase("text", {
        review: true,
        personas: [
          persona("writer", {
            run: place.work("writer", ({ workspace, notes }) =>
              workspace.write("text", `text ${notes.join(" ")}`.trim()),
            ),
          }),
        ],
      }),
      phase("build", { review: true, personas: [persona("dev", { run: place.work("dev") })] }),
      phase("ship", { personas: [persona("op", { run: place.work("op") })] }),
    ],
  });

/** The text was sent back once and then approved; the build on it waits for review. */
async function reviewed(place: TeamPlace): Promise<{ maestro: Maestro; id: string }> {
  const maestro = await place.open();
  const session = await maestro.start(teamOf(place, 1), { brief: "x" });
  await session.result();
  await maestro.reject(session.id, { note: "shorter" });
  await (await maestro.resume(session.id)).result();
  await maestro.approve(session.id);
  expect(await (await maestro.resume(session.id)).result()).toMatchObject({ reason: "review" });
  place.ran.length = 0;
  return { maestro, id: session.id };
}

const reviewsOf = async (maestro: Maestro, id: string) =>
  (await maestro.show(id)).phases.map(({ name, review }) => `${name} ${review}`);

describe.each(["restored from its files", "imported elsewhere"])("a session that is %s", (how) => {
  async function elsewhere(place: TeamPlace, maestro: Maestro, id: string): Promise<Maestro> {
    const teams = [teamOf(place, 1)];
    if (how === "restored from its files") {
      await maestro.close();
      for (const file of readdirSync(place.stateDir))
        if (file.startsWith("maestro.db")) rmSync(join(place.stateDir, file));
      return place.open({ teams });
    }
    const stateDir = mkdtempSync(join(place.stateDir, "there-"));
    const file = join(stateDir, "exported");
    await maestro.exportCheckpoints(id, file);
    const there = await place.open({ teams, stateDir });
    await there.importCheckpoints(file, { trust: true });
    return there;
  }

  it("asks for no review of a phase that later phases used", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await reviewed(place);
    const later = await elsewhere(place, maestro, id);
    await (await later.resume(id)).result();
    expect(await reviewsOf(later, id)).toEqual(["plan none", "text approved", "build awaiting", "ship none"]);
    await later.approve(id);
    expect(await (await later.resume(id)).result()).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["op"]);
  });

  it("keeps the notes of reviewers", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await reviewed(place);
    const later = await elsewhere(place, maestro, id);
    await (await later.resume(id, { team: teamOf(place, 2), acceptChanges: true })).result();
    expect(place.ran).toEqual(["planner"]);
    await later.approve(id);
    await (await later.resume(id)).result();
    expect(await place.filesOf(later, id)).toEqual({ text: "text shorter" });
    expect(place.ran).toEqual(["planner"]);
  });

  it("keeps in a fork the reviews and edits of a phase that it has not reached yet", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await reviewed(place);
    await (await maestro.resume(id, { edits: { build: { files: { legal: "by a person" } } } })).result();
    const fork = await maestro.fork(id, { at: "plan", team: teamOf(place, 2), key: "forked" });
    await maestro.executePhase(fork.id, "plan");
    // The same key means the same fork.
    expect((await maestro.fork(id, { at: "plan", team: teamOf(place, 2), key: "forked" })).id).toBe(fork.id);
    const later = await elsewhere(place, maestro, fork.id);
    const team = teamOf(place, 2);
    for (let result = await (await later.resume(fork.id, { team })).result(); result.reason === "review"; ) {
      await later.approve(fork.id);
      result = await (await later.resume(fork.id, { team })).result();
    }
    expect(await place.filesOf(later, fork.id)).toEqual({ text: "text shorter", legal: "by a person" });
  });
});
