import { copyFileSync, cpSync, mkdirSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { openReadonly } from "../../../src/api/open-readonly.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { systemClock } from "../../../src/domain/clock.ts";
import { newSessionId } from "../../../src/domain/ids.ts";
import { defineTeam, type Maestro, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "../run/place.ts";

const team = defineTeam("quick", {
  phases: [phase("only", { personas: [persona("worker", { run: async () => ({ summary: "done" }) })] })],
});

let place: TeamPlace;
beforeEach(() => {
  place = new TeamPlace();
});

const database = () => join(place.stateDir, "maestro.db");
const sessions = () => join(place.stateDir, "sessions");

/** One life of a process; gives what it was told of lost sessions. */
async function live(
  act: (maestro: Maestro) => Promise<unknown> = async () => {},
  agoMs = 0,
): Promise<string> {
  place.notices.length = 0;
  const clock = { ...systemClock, now: () => Date.now() - agoMs };
  const maestro = await place.open({ teams: [team], clock });
  await act(maestro);
  await maestro.close();
  return place.notices.join("\n");
}

const run = (key: string, agoMs = 0) =>
  live(async (maestro) => (await maestro.start(team, { brief: "b", key })).result(), agoMs);

/** As if the folders had last changed this long ago. */
function settle(agoMs: number): void {
  const then = new Date(Date.now() - agoMs);
  utimesSync(sessions(), then, then);
}

/** A folder that no comparison has seen yet: it is reported only when all folders are compared. */
function hideFolder(): void {
  mkdirSync(join(sessions(), newSessionId()));
  settle(60_000);
}

describe("a start", () => {
  test("compares no folder when only sessions of its own database can be new since the last comparison", async () => {
    await run("first");
    settle(50_000);
    expect(await live()).toBe("");
    hideFolder();
    expect(await live()).toBe("");
    // A session of this database is no reason to look either.
    await run("second");
    hideFolder();
    expect(await live()).toBe("");
    const loaded = await loadConfig({ env: {}, overrides: { stateDir: place.stateDir } });
    const notices: string[] = [];
    const looking = await openReadonly({ loaded, onNotice: (notice) => notices.push(notice) });
    await looking.close();
    expect(notices).toEqual([]);
    const doctor = await openReadonly({ loaded, onNotice: (notice) => notices.push(notice) });
    await doctor.announceLost();
    await doctor.announceLost();
    await doctor.close();
    expect(notices).toEqual([expect.stringContaining("2 sessions have files")]);
    // `list` compares all of them.
    await live(async (maestro) => expect(await maestro.lostSessions()).toHaveLength(2));
  });

  test("reports a lost database until every session is restored", async () => {
    await run("first");
    await run("second");
    for (const suffix of ["", "-wal", "-shm"]) rmSync(database() + suffix, { force: true });
    settle(60_000);
    expect(await live()).toContain("2 sessions have files");
    expect(await live((maestro) => maestro.resume("first"))).toContain("2 sessions have files");
    expect(await run("third")).toContain("1 session has files");
    expect(await live()).toContain("1 session has files");
    await live((maestro) => maestro.resume("second"));
    expect(await live()).toBe("");
  });

  test("reports a database from an older backup, also after new sessions were created in it", async () => {
    // Before the folder of the lost one: only a folder that is newer than the newest session is looked for.
    await run("first", 60_000);
    settle(60_000);
    await live();
    copyFileSync(database(), `${database()}.backup`);
    await run("lost");
    for (const suffix of ["-wal", "-shm"]) rmSync(database() + suffix, { force: true });
    copyFileSync(`${database()}.backup`, database());
    expect(await run("third")).toContain("1 session has files");
    expect(await live()).toContain("1 session has files");
    await live(async (maestro) => {
      const { results } = await (await maestro.resume("lost")).result();
      expect(results["only"]?.["worker"]?.summary).toBe("done");
    });
  });

  test("reports a folder that a person copied here, and finds its session by id in any case", async () => {
    await run("first");
    settle(60_000);
    await live();
    const here = place.stateDir;
    const other = new TeamPlace();
    const there = await other.open();
    const { id } = await (await there.start(team, { brief: "b" })).result();
    await there.close();
    cpSync(join(other.stateDir, "sessions", id), join(here, "sessions", id), { recursive: true });
    // Not in the second in which a session was made here.
    settle(-2_000);
    expect(await live()).toContain(id);
    settle(60_000);
    await live(async (maestro) => expect(await maestro.show(id)).toMatchObject({ id, team: "quick" }));
  });
});
