import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../src/domain/clock.ts";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { prepareClaimed, prepareDrive } from "../../../src/run/prepare.ts";
import { Artifacts } from "../../../src/store/artifacts.ts";
import { readState } from "../../../src/store/session-journal.ts";
import { SqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { TeamPlace } from "./place.ts";

/** a, then b and c beside each other. */
const branches = (place: TeamPlace, act: Record<string, () => unknown> = {}) =>
  defineTeam("branches", {
    phases: ["a", "b", "c"].map((name) =>
      phase(name, {
        dependsOn: name === "a" ? [] : ["a"],
        personas: [persona(`p${name}`, { run: place.work(`p${name}`, act[name]) })],
      }),
    ),
  });

/** Work that ends when the test says so. */
function gate() {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  return {
    begun,
    open,
    act: async () => {
      begin();
      await opened;
    },
  };
}

describe("phases called by an outside orchestrator", () => {
  it("runs two phases that are requested at the same moment", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const { id } = await maestro.create(branches(place), { brief: "x" });
    await maestro.executePhase(id, "a");
    const ends = await Promise.all(["b", "c"].map((name) => maestro.executePhase(id, name)));
    expect(place.ran.toSorted()).toEqual(["pa", "pb", "pc"]);
    expect(ends.map(({ results }) => Object.keys(results))).toContainEqual(["a", "b", "c"]);
    expect(await maestro.show(id)).toMatchObject({ status: "completed" });
  });

  it("refuses only the phase whose dependency failed at the same time", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const { id } = await maestro.create(branches(place), { brief: "x" });
    const [a, typo] = await Promise.allSettled(["a", "d"].map((name) => maestro.executePhase(id, name)));
    expect(a).toMatchObject({ status: "fulfilled" });
    expect(typo).toMatchObject({ status: "rejected", reason: { code: "INPUT_INVALID" } });
  });
});

describe("phase by phase in one process", () => {
  it("still detects and repairs a checkpoint that was damaged in between", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const { id } = await maestro.create(branches(place), { brief: "x" });
    await maestro.executePhase(id, "a");
    await maestro.executePhase(id, "b");
    const file = join(place.stateDir, "sessions", id, "checkpoint_a.json");
    const whole = readFileSync(file, "utf8");
    writeFileSync(file, whole.replace("pa is done", "pa is gone"));
    await maestro.executePhase(id, "c");
    expect(readFileSync(file, "utf8")).toBe(whole);
    expect(place.notices.join("\n")).toContain("Checkpoint a of session");
  });
});

describe("pauseAfter", () => {
  it("stays when a phase runs alone and when the session resumes", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const started = await maestro.start(branches(place), { brief: "x", only: ["a"], pauseAfter: ["b"] });
    await started.result();
    expect(await maestro.executePhase(started.id, "b")).toMatchObject({ status: "parked", reason: "review" });
    await maestro.approve(started.id);
    expect((await maestro.show(started.id)).direction).toEqual({ only: ["b"], pauseAfter: ["b"] });
  });

  it("stays when the session is started again by its key, and changes when other phases are named", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = branches(place);
    const first = await maestro.start(team, { brief: "x", key: "k", until: "a", pauseAfter: ["b"] });
    await first.result();
    const again = await maestro.start(team, { brief: "x", key: "k" });
    expect(await again.result()).toMatchObject({ status: "parked", reason: "review" });
    await maestro.approve(again.id);
    await maestro.executeMixed(again.id, { pauseAfter: [] });
    expect(await maestro.show(again.id)).toMatchObject({
      status: "completed",
      direction: { pauseAfter: [] },
    });
  });

  it("stays in the queue too", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const started = await maestro.start(branches(place), { brief: "x", only: ["a"], pauseAfter: ["b"] });
    await started.result();
    await maestro.queueResume(started.id, { direction: { only: ["b"] } });
    await maestro.scheduler({ places: 1, report: expect.unreachable }).tick();
    expect(await maestro.show(started.id)).toMatchObject({ status: "parked", reason: "review" });
  });
});

describe("a request while the session is running", () => {
  it("continues to the end when it wants more than the current drive", async () => {
    const place = new TeamPlace();
    const work = gate();
    const maestro = await place.open();
    const started = await maestro.start(branches(place, { a: work.act }), { brief: "x", until: "a" });
    await work.begun;
    const batch = maestro.executeBatch(started.id);
    work.open();
    expect(await started.result()).toMatchObject({ status: "paused" });
    expect(await batch).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["pa", "pb", "pc"]);
  });

  it("resumes a session that was paused a moment before", async () => {
    const place = new TeamPlace();
    const work = gate();
    const maestro = await place.open();
    const started = await maestro.start(branches(place, { a: work.act }), { brief: "x" });
    await work.begun;
    await maestro.pause(started.id);
    const resumed = await maestro.resume(started.id);
    work.open();
    expect(await started.result()).toMatchObject({ status: "paused" });
    expect(await resumed.result()).toMatchObject({ status: "completed" });
  });

  it("stays paused when a pause follows the resume", async () => {
    const place = new TeamPlace();
    const work = gate();
    const maestro = await place.open();
    const started = await maestro.start(branches(place, { a: work.act }), { brief: "x", until: "a" });
    await work.begun;
    const resumed = await maestro.resume(started.id);
    await maestro.pause(started.id);
    work.open();
    expect(await resumed.result()).toMatchObject({ status: "paused" });
    expect(place.ran).toEqual(["pa"]);
  });

  it("parks for help once: a request from before the parking gets no new rounds", async () => {
    const place = new TeamPlace();
    const work = gate();
    const maestro = await place.open();
    const failing = async () => {
      await work.act();
      throw new Error("never");
    };
    const started = await maestro.start(branches(place, { a: failing }), { brief: "x", until: "a" });
    await work.begun;
    const batch = maestro.executeBatch(started.id);
    work.open();
    expect(await started.result()).toMatchObject({ status: "parked", reason: "help" });
    const { length } = place.ran;
    expect(await batch).toMatchObject({ status: "parked", reason: "help" });
    expect(place.ran).toHaveLength(length);
  });

  it.each([
    ["an edit", { edits: { a: { summary: "other" } } }],
    ["other phases to pause after", undefined],
  ])("refuses %s that would come too late, at once", async (what, options) => {
    const place = new TeamPlace();
    const work = gate();
    const maestro = await place.open();
    const started = await maestro.start(branches(place, { b: work.act }), { brief: "x" });
    await work.begun;
    const asked =
      options === undefined
        ? maestro.executeMixed(started.id, { pauseAfter: ["c"] })
        : maestro.resume(started.id, options).then((session) => session.result());
    await expect(asked).rejects.toMatchObject({
      code: "SESSION_CONFLICT",
      message: expect.stringContaining(what),
    });
    work.open();
    expect(await started.result()).toMatchObject({ status: "completed" });
  });

  it("joins a drive with the same request", async () => {
    const place = new TeamPlace();
    const work = gate();
    const maestro = await place.open();
    const team = branches(place, { a: work.act });
    const options = { brief: "x", key: "k", pauseAfter: ["b"] } as const;
    const first = await maestro.start(team, options);
    await work.begun;
    const second = await maestro.start(team, options);
    work.open();
    expect(await second.result()).toMatchObject({ status: "parked", reason: "review" });
    expect(await first.result()).toMatchObject({ status: "parked", reason: "review" });
  });
});

describe("a request that was prepared before the claim", () => {
  it("is refused when another process has driven the session since, and the session stays as it is", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = branches(place);
    const started = await maestro.start(team, { brief: "x", until: "a" });
    await started.result();
    const { id } = started;
    const store = new SqliteStore({
      path: join(place.stateDir, "maestro.db"),
      clock: systemClock,
      leaseMs: 15_000,
    });
    onTestFinished(() => store.close());
    const artifacts = new Artifacts(place.stateDir);
    const seen = await readState(store, id);
    const { seq } = seen.head;
    const preparation = { edits: { a: { files: { "a.md": "edited" } } } };
    const prepared = await prepareDrive(seen, team, preparation, artifacts);
    await maestro.executePhase(id, "b");
    const written: unknown[] = [];
    const append = async (row: unknown) => written.push(row);
    const now = await readState(store, id);
    const claimed = prepareClaimed({ ...prepared, seq }, now, team, preparation, artifacts, append);
    await expect(claimed).rejects.toThrow(/b already used its result/);
    expect(written).toEqual([{ kind: "session.status", status: "paused", by: "refusal" }]);
  });
});

describe("a completed session", () => {
  const completed = async (place: TeamPlace) => {
    const maestro = await place.open();
    const session = await maestro.start(branches(place), { brief: "x", key: "k" });
    await session.result();
    return { maestro, id: session.id };
  };
  const changed = (place: TeamPlace) =>
    defineTeam("branches", {
      phases: ["a", "b", "c"].map((name) =>
        phase(name, {
          dependsOn: name === "a" ? [] : ["a"],
          personas: [
            persona(`p${name}`, { run: place.work(`p${name}`), ...(name === "b" && { consumes: ["pa"] }) }),
          ],
        }),
      ),
    });

  it("refuses an unknown phase", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await completed(place);
    await expect(maestro.executePhase(id, "bb")).rejects.toThrow(/There is no phase "bb"/);
    expect(await maestro.executePhase(id, "b")).toMatchObject({ status: "completed" });
  });

  it("refuses it in the queue too, and accepts an edit of a phase without dependents", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await completed(place);
    await expect(maestro.queueResume(id, { direction: { only: ["bb"] } })).rejects.toThrow(
      /There is no phase/,
    );
    await maestro.queueResume(id, { edits: { c: { summary: "as a person says it" } } });
    await maestro.scheduler({ places: 1, report: expect.unreachable }).tick();
    const { phases } = await maestro.show(id);
    expect(phases[2]?.personas[0]?.summary).toBe("as a person says it");
  });

  it("reports that a changed team is not applied, with the fork command", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await completed(place);
    const session = await maestro.resume(id, { team: changed(place) });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(place.notices.join("\n")).toContain(`maestro fork ${id} --at b`);
    const accepting = await maestro.resume(id, { team: changed(place), acceptChanges: true });
    await expect(accepting.result()).rejects.toMatchObject({ code: "SESSION_CONFLICT" });
    expect(place.ran).toEqual(["pa", "pb", "pc"]);
  });

  it("refuses other given phases for its key, and accepts the same ones", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = branches(place);
    const start = (text: string) =>
      maestro.start(team, { brief: "x", key: "k", given: { a: { files: { "a.md": text } } } });
    await (await start("one")).result();
    expect(await (await start("one")).result()).toMatchObject({ status: "completed" });
    await expect(start("two")).rejects.toThrow(/has other given phases/);
  });
});
