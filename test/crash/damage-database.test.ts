import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { StateCorrupt } from "../../src/index.ts";
import { Damage, type End, expectHonest } from "../campaign/damage.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { newStateDir, temporaryDirectory } from "./damage-support/temporary-directory.ts";
import { databaseFiles, type ThreePhases } from "./damage-support/three-phases.ts";

let damage: Damage;
let original: ThreePhases;
beforeAll(async () => {
  damage = await Damage.prepare(temporaryDirectory());
  ({ original } = damage);
});

describe("a damaged database", () => {
  test("is refused, and following the advice restores its sessions", async () => {
    const session = original.copy(newStateDir());
    const path = join(session.stateDir, "maestro.db");
    writeFileSync(path, Buffer.concat([randomBytes(100), readFileSync(path).subarray(100)]));
    const error = await session.refusal();
    expect(error).toBeInstanceOf(StateCorrupt);
    expect(error.advice).toContain(`mv ${path} ${path}.damaged`);
    // The steps of the advice.
    renameSync(path, `${path}.damaged`);
    session.paused = false;
    const { result, ran } = await session.resume();
    expect(result.status).toBe("completed");
    expect(ran).toEqual(["test first", "test second"]);
  });

  // The first seed damages the page of the schema, which was once not reported as damage.
  test.each([
    [1_473_892_203, 60],
    [1, 20],
  ])("gives the right results or is refused, wherever the damage is (seed %i)", async (seed, rounds) => {
    const random = seededRandom(seed);
    const ends: End[] = [];
    for (let round = 0; round < rounds; round += 1) ends.push(await damage.database(random, round));
    // Otherwise the damage hit unused bytes.
    expect(ends.filter((end) => end === "refused").length).toBeGreaterThan(1);
  });

  test.each(["an empty file", "no file"])(
    "that was replaced by %s does not prevent a resume of its sessions",
    async (replacement) => {
      const session = original.copy(newStateDir());
      session.loseDatabase();
      if (replacement === "an empty file") writeFileSync(join(session.stateDir, "maestro.db"), "");
      const lost = await session.with((maestro) => maestro.lostSessions());
      expect(lost).toEqual([session.id]);
      expect(session.notices.join()).toContain(`not in the database (${session.id})`);
      session.paused = false;
      const { result, ran } = await session.resume();
      expect(result.status).toBe("completed");
      expect(ran).toEqual(["test first", "test second"]);
    },
  );
});

describe("a damaged write-ahead log", () => {
  test("is read after a power cut if it is complete", async () => {
    const session = damage.cutOff.copy(newStateDir());
    expect(readFileSync(join(session.stateDir, databaseFiles[1])).length).toBeGreaterThan(50_000);
    expect(await expectHonest(session, "intact")).toBe("completed");
    expect(session.ran).toEqual(["test first", "test second"]);
  });

  test("never makes recorded steps run again without a notice", async () => {
    const random = seededRandom(1);
    for (let round = 0; round < 20; round += 1)
      expect(["completed", "refused"]).toContain(await damage.log(random, round));
  });
});

test("an import refuses a damaged export and writes nothing", async () => {
  const random = seededRandom(1);
  const ends: End[] = [];
  for (let round = 0; round < 10; round += 1) ends.push(await damage.exported(random));
  expect(ends.filter((end) => end === "refused").length).toBeGreaterThan(7);
});

test("a lost session with a damaged checkpoint ends with the right results or is refused", async () => {
  const random = seededRandom(1);
  for (let round = 0; round < 6; round += 1)
    expect(["completed", "refused"]).toContain(await damage.checkpointAlone(random));
});
