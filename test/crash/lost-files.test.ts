import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { sha256 } from "../../src/domain/canonical.ts";
import { endingOf, expectTidyFiles, type Undisturbed, undisturbedBy } from "./support/expectations.ts";
import { asOnlooker, filesLeft } from "./support/onlooker.ts";
import { Place } from "./support/place.ts";
import { nothingRecorded, rowsOf } from "./support/recorded.ts";
import type { TeamName } from "./support/teams.ts";

const places: Place[] = [];
const newPlace = (): Place => {
  const place = new Place();
  places.push(place);
  return place;
};
const twoDays = { laterMs: 2 * 24 * 3_600_000 };

/** Another machine with everything except the database. */
function withoutDatabase({ stateDir }: Place): Place {
  const copy = newPlace();
  mkdirSync(copy.stateDir, { mode: 0o700 });
  for (const folder of ["sessions", "artifacts"])
    cpSync(join(stateDir, folder), join(copy.stateDir, folder), { recursive: true });
  return copy;
}

async function undisturbedRun(team: TeamName): Promise<Undisturbed> {
  const place = newPlace();
  return undisturbedBy(place, place.drive(team), team);
}

afterEach(async () => {
  for (const place of places.splice(0)) await place.remove();
});

describe("a session with files and without its database", () => {
  /** The five personas of the first two phases are done, and one of the third. */
  const inThirdPhase = { point: "attempt.completed:after-commit", hit: 6, act: "kill" } as const;

  let undisturbed: Undisturbed;
  let lost: Place;
  beforeAll(async () => {
    undisturbed = await undisturbedRun("department");
    lost = new Place();
    await lost.afterlife(lost.drive("department", { fault: inThirdPhase }), "department");
    return () => lost.remove();
  });

  test("continues on another machine: two sealed phases keep their files, and the third runs again", async () => {
    const before = lost.lives[0]?.recorded;
    const done = rowsOf(before ?? nothingRecorded, "phase.completed").map(({ phase }) => phase);
    expect(done, "killed in the third").toEqual(["requirements", "design"]);
    const copy = withoutDatabase(lost);
    const id = before?.session?.id ?? "";
    const life = await copy.afterlife(copy.wish("department", { do: "resume", session: id }), "department");
    expect(endingOf(life)).toEqual(undisturbed.ending);
    expect(life.recorded.session?.id).toBe(id);
    expect(rowsOf(life.recorded, "session.restored")).toHaveLength(1);
    expect(new Set(life.begun.map((attempt) => attempt.split(",")[0]))).toEqual(
      new Set(["backend", "frontend", "database", "integrator", "writer", "editor", "tester"]),
    );
    expect(await filesLeft(copy, id)).toEqual(undisturbed.files);
    await expectTidyFiles(copy, id);
  });

  test("keeps every artifact: each is readable by its hash and survives a prune two days later", async () => {
    const copy = withoutDatabase(lost);
    await copy.wish("department", { do: "resume", session: "department" }).ended;
    const read = () =>
      asOnlooker(copy, async (maestro) => {
        const { artifacts } = await maestro.show("department");
        const contents = artifacts.map(({ sha256 }) => maestro.artifact("department", sha256));
        return (await Promise.all(contents)).map(String);
      });
    const contents = await read();
    expect(contents).toHaveLength(undisturbed.files.length);
    await asOnlooker(copy, (maestro) => maestro.prune({}), twoDays);
    expect(await read()).toEqual(contents);
    // Also the files as each persona left them, which only a fork would read.
    const fork = { do: "fork", session: "department", key: "fork", at: "design", edits: {} } as const;
    const life = await copy.afterlife(copy.wish("department", fork), "fork");
    expect(endingOf(life)).toEqual(undisturbed.ending);
  });
});

describe("a session with edits and without its database", () => {
  test("keeps an edited phase as edited, and each attempt and decision once", async () => {
    const place = newPlace();
    await place.drive("branches").ended;
    const edits = {
      meet: { outputs: { mediator: { read: "something else" } }, files: { "both.md": "mine\n" } },
    };
    const life = await place.afterlife(
      place.wish("branches", { do: "resume", session: "branches", edits }),
      "branches",
    );
    expect(rowsOf(life.recorded, "phase.edited"), "the last phase, without dependents").toHaveLength(1);
    const seen = (where: Place) =>
      asOnlooker(where, async (maestro) => {
        const { phases, artifacts, decisions } = await maestro.show("branches");
        const personas = phases.flatMap((phase) => phase.personas);
        return {
          phases: phases.map(({ name, revision, source, tree }) => ({ name, revision, source, tree })),
          attempts: personas.map(({ name, attempts }) => [name, attempts.length]),
          artifacts: artifacts.map(({ path, sha256 }) => [path, sha256]),
          decisions,
        };
      });
    const before = await seen(place);
    expect(before.decisions).toHaveLength(1);
    expect(await seen(withoutDatabase(place))).toEqual(before);
  });

  test("is restored from its first checkpoint with its team, also after another team was accepted", async () => {
    const place = newPlace();
    await place.wish("shop", { do: "start", until: "needs" }).ended;
    const accept = { do: "resume", session: "shop", acceptChanges: true } as const;
    const isTested = { point: "attempt.completed:after-commit", hit: 4, act: "kill" } as const;
    await place.wish("shop", accept, { isChanged: true, fault: isTested }).ended;
    // The next claim finds every file valid and changes none.
    await place.act({ do: "pause", session: "shop" }).ended;
    const copy = withoutDatabase(place);
    const resume = { do: "resume", session: "shop" } as const;
    const life = await copy.afterlife(copy.wish("shop", resume, { isChanged: true }), "shop");
    expect(endingOf(life)).toMatchObject({ status: "completed" });
    expect(life.begun, "the others are done").toEqual(["tester, attempt 1"]);
  });

  test("has its old checkpoints written again unchanged, also after another team was accepted", async () => {
    const place = newPlace();
    await place.wish("shop", { do: "start", until: "needs" }).ended;
    const files = () => checkpointsIn(place);
    const before = files();
    expect(Object.keys(before)).toEqual(["checkpoint_init.json", "checkpoint_needs.json"]);
    const accept = { do: "resume", session: "shop", acceptChanges: true } as const;
    const isBuilt = { point: "phase.completed:after-commit", hit: 1, act: "kill" } as const;
    await place.wish("shop", accept, { isChanged: true, fault: isBuilt }).ended;
    expect(files(), "nothing of the past is written again").toEqual(before);
    for (const name of Object.keys(before)) rmSync(join(folderOf(place), name));
    const life = await place.afterlife(place.wish("shop", accept, { isChanged: true }), "shop");
    expect(endingOf(life)).toMatchObject({ status: "completed" });
    expect(files()).toMatchObject(before);
    await expectTidyFiles(place, "shop");
  });
});

function folderOf({ stateDir }: Place): string {
  return join(stateDir, "sessions", readdirSync(join(stateDir, "sessions"))[0] ?? "");
}

function checkpointsIn(place: Place): Record<string, string> {
  const names = readdirSync(folderOf(place)).filter((name) => name.startsWith("checkpoint_"));
  return Object.fromEntries(
    names.sort().map((name) => [name, sha256(readFileSync(join(folderOf(place), name)))]),
  );
}
