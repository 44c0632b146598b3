import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadTeam, TeamChanged } from "../../../../src/index.ts";
import { teamOf } from "../../../../src/team/define.ts";
import { TeamPlace } from "../place.ts";
import { brief, chosen, expectPlannedOnce, titles, workersOf } from "./planned-place.ts";
import { smallTeam } from "./small-team.ts";

const checkpoint = (place: TeamPlace, id: string, phase: string) =>
  JSON.parse(readFileSync(join(place.stateDir, "sessions", id, `checkpoint_${phase}.json`), "utf8")) as {
    readonly session?: { readonly decisions?: readonly { readonly title: string }[] };
    readonly decisions?: readonly { readonly title: string }[];
  };

describe("a plan is replayed, never made again", () => {
  async function pausedAfterDesign(place = new TeamPlace()) {
    const maestro = await place.open();
    const team = smallTeam((name) => ({ run: place.work(name) }));
    const session = await maestro.start(team, { brief, key: "planned", until: "design" });
    expect(await session.result()).toMatchObject({ status: "paused" });
    return { place, maestro, team, id: session.id };
  }

  test("by a resume with the given or registered team, or a start with its key", async () => {
    const { place, maestro, team, id } = await pausedAfterDesign();
    await maestro.close();
    const registered = await place.open({ teams: [team] });
    await (await registered.resume(id, { team })).result();
    const again = await registered.start(team, { brief, key: "planned" });
    expect(again.id).toBe(id);
    expect(await again.result()).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["solution_architect", "backend_developer", "poet"]);
    expect(workersOf(await registered.show(id))).toEqual(chosen);
    await expectPlannedOnce(registered, id);
  });

  test("from its checkpoints as well: those of the start and of each phase have the decisions", async () => {
    const { place, id } = await pausedAfterDesign();
    expect(checkpoint(place, id, "init").session?.decisions?.map(({ title }) => title)).toEqual(titles);
    expect(checkpoint(place, id, "design").decisions?.map(({ title }) => title)).toEqual(titles);
  });

  test("phase by phase, by an outside orchestrator", async () => {
    const { place, maestro, id } = await pausedAfterDesign();
    await maestro.executePhase(id, "implementation");
    await maestro.executeBatch(id);
    expect(place.ran).toEqual(["solution_architect", "backend_developer", "poet"]);
    await expectPlannedOnce(maestro, id);
  });

  test("in a process without the team, from the session alone", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const work = () => ({ instructions: "Do it." });
    const planned = await maestro.create(smallTeam(work), { brief, model: "simulated" });
    await maestro.close();
    const other = await place.open();
    expect(await other.executeBatch(planned.id)).toMatchObject({ status: "completed" });
    expect(workersOf(await other.show(planned.id))).toEqual(chosen);
    await expectPlannedOnce(other, planned.id);
  });

  test("also when the rules would decide otherwise by now", async () => {
    const { maestro, team, id } = await pausedAfterDesign();
    const other = await maestro.create(team, { brief: "A shop with a database." });
    expect(workersOf(await maestro.show(other.id))["design"]).toContain("database_specialist");
    expect(await maestro.executeBatch(id)).toMatchObject({ status: "completed" });
    expect(workersOf(await maestro.show(id))).toEqual(chosen);
  });

  test("by a fork, which has the same decisions in its own rows", async () => {
    const { place, maestro, id } = await pausedAfterDesign();
    await maestro.executeBatch(id);
    const { id: fork } = await maestro.fork(id, { at: "implementation", fresh: true });
    expect(await maestro.executeBatch(fork)).toMatchObject({ status: "completed" });
    expect(workersOf(await maestro.show(fork))).toEqual(chosen);
    expect(place.ran).toEqual([
      "solution_architect",
      "backend_developer",
      "poet",
      "backend_developer",
      "poet",
    ]);
    await expectPlannedOnce(maestro, fork);
    // A session of the same team that is started afterwards is planned for its own brief.
    const next = await maestro.create(
      smallTeam(() => ({ instructions: "x" })),
      { brief: "A web app." },
    );
    expect(workersOf(await maestro.show(next.id))["implementation"]).toContain("frontend_developer");
  });

  test("when the database is lost: from the checkpoint of a phase, or of the start", async () => {
    const { place, maestro, team, id } = await pausedAfterDesign();
    const fresh = await maestro.create(team, { brief });
    const whole = await maestro.start(team, { brief });
    await whole.result();
    await maestro.close();
    for (const ending of ["", "-wal", "-shm"])
      rmSync(join(place.stateDir, `maestro.db${ending}`), { force: true });
    const restored = await place.open({ teams: [team] });
    expect(await restored.executeBatch(id)).toMatchObject({ status: "completed" });
    // Each checkpoint has them; the session has them once.
    expect(await restored.executeBatch(whole.id)).toMatchObject({ status: "completed" });
    for (const one of [id, whole.id]) {
      const view = await restored.show(one);
      expect(view.decisions.map(({ title }) => title)).toEqual(titles);
      expect(workersOf(view)).toEqual(chosen);
    }
    expect(await restored.executeBatch(fresh.id)).toMatchObject({ status: "completed" });
    await expectPlannedOnce(restored, fresh.id);
  });
});

describe("a team that has changed since", () => {
  const named = (instructions: string) => () => ({ instructions });

  async function started(place: TeamPlace) {
    const maestro = await place.open();
    const session = await maestro.create(smallTeam(named("Do it.")), { brief, model: "simulated" });
    return { maestro, id: session.id };
  }

  test("in a persona that was not chosen is the same team for the session", async () => {
    const { maestro, id } = await started(new TeamPlace());
    const team = smallTeam(named("Do it."), {
      more: { frontend_developer: { instructions: "Something else." } },
    });
    expect(await (await maestro.resume(id, { team })).result()).toMatchObject({ status: "completed" });
    await expectPlannedOnce(maestro, id);
  });

  test("in a chosen persona is refused until it is accepted, and the choice stays", async () => {
    const { maestro, id } = await started(new TeamPlace());
    const team = smallTeam(named("Do it."), { more: { poet: { instructions: "In verse." } } });
    const refusal = await (await maestro.resume(id, { team })).result().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(TeamChanged);
    expect((refusal as Error).message).toMatch(
      /team "small": phase implementation: persona poet: instructions changed\.$/,
    );
    const accepted = await maestro.resume(id, { team, acceptChanges: true });
    expect(await accepted.result()).toMatchObject({ status: "completed" });
    expect(workersOf(await maestro.show(id))).toEqual(chosen);
    // And from then on it is the team of the session.
    expect(await (await maestro.resume(id, { team })).result()).toMatchObject({ status: "completed" });
    await expectPlannedOnce(maestro, id);
  });

  test.each(["rules", "model"] as const)(
    "by a persona that joined, with %s, is reported, and that persona works",
    async (planning) => {
      const place = new TeamPlace();
      const maestro = await place.open();
      const work = (name: string) => ({ run: place.work(name) });
      const session = await maestro.start(smallTeam(work, { planning }), { brief, until: "design" });
      await session.result();
      const team = smallTeam(work, { planning, joins: ["security_specialist"] });
      await expect(maestro.resume(session.id, { team }).then((one) => one.result())).rejects.toThrow(
        /: phase design: persona security_specialist was added\.$/,
      );
      const { id: fork } = await maestro.fork(session.id, { at: "design", team });
      place.ran.length = 0;
      const accepted = await maestro.resume(session.id, { team, acceptChanges: true });
      expect(await accepted.result()).toMatchObject({ status: "completed" });
      expect(place.ran.splice(0)).toEqual(["security_specialist", "backend_developer", "poet"]);
      expect(await (await maestro.resume(fork, { team })).result()).toMatchObject({ status: "completed" });
      expect(place.ran).toEqual(["security_specialist", "backend_developer", "poet"]);
    },
  );

  test("and is changed back is reported too", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const model = "simulated";
    const first = await maestro.start(smallTeam(named("Do it.")), { brief, model, pauseAfter: ["design"] });
    const { id } = await first.result();
    const team = smallTeam(named("Do it."), { more: { poet: { instructions: "In verse." } } });
    const changed = await maestro.resume(id, { team, acceptChanges: true });
    expect(await changed.result()).toMatchObject({ reason: "review" });
    const back = maestro.resume(id, { team: smallTeam(named("Do it.")) }).then((one) => one.result());
    await expect(back).rejects.toThrow(/persona poet: instructions changed\.$/);
  });

  test("does not matter to a resume without a team: the record decides", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await started(place);
    await maestro.close();
    const team = smallTeam(named("Do it."), { more: { poet: { instructions: "In verse." } } });
    const other = await place.open({ teams: [team] });
    expect(await other.executeBatch(id)).toMatchObject({ status: "completed" });
  });

  test("to ask for planning leaves an existing session without a plan unchanged", async () => {
    const maestro = await new TeamPlace().open();
    const { definition, ...whole } = smallTeam(named("Do it."));
    const { planning: _, ...unplanned } = definition;
    const { id } = await maestro.create(teamOf(unplanned, whole.phases), { brief, model: "simulated" });
    const resumed = await maestro.resume(id, { team: smallTeam(named("Do it.")) });
    expect(await resumed.result()).toMatchObject({ status: "completed" });
    const view = await maestro.show(id);
    expect(workersOf(view)["design"]).toEqual(["solution_architect", "database_specialist"]);
    expect(view.decisions).toEqual([]);
  });
});

test("given phases apply to the chosen personas", async () => {
  const place = new TeamPlace();
  const maestro = await place.open();
  const team = smallTeam((name) => ({ run: place.work(name) }));
  const session = await maestro.start(team, {
    brief,
    given: { design: { outputs: { solution_architect: { parts: 3 } } } },
  });
  expect(await session.result()).toMatchObject({ status: "completed" });
  expect(place.ran).toEqual(["backend_developer", "poet"]);
  await expectPlannedOnce(maestro, session.id);
});

test("a team that does not ask for planning is not planned", async () => {
  const maestro = await new TeamPlace().open();
  const fixture = join(import.meta.dirname, "../../../fixtures/teams/product.yaml");
  const { team } = await loadTeam(fixture);
  const { id } = await maestro.create(team, { brief });
  const { decisions, phases } = await maestro.show(id);
  expect(decisions).toEqual([]);
  expect(phases.flatMap(({ personas }) => personas)).toHaveLength(
    team.phases.flatMap(({ personas }) => personas).length,
  );
});
