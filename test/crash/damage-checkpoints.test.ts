import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { CheckpointCorrupt, StateTooNew } from "../../src/domain/errors.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { readCheckpoint } from "../../src/journal/checkpoint.ts";
import { seal, unseal } from "../../src/journal/seal.ts";
import { Damage } from "../campaign/damage.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { newStateDir, temporaryDirectory } from "./damage-support/temporary-directory.ts";
import { ThreePhases } from "./damage-support/three-phases.ts";

const checkpoints = ["checkpoint_init.json", "checkpoint_plan.json", "checkpoint_build.json"] as const;

let original: ThreePhases;
beforeAll(async () => {
  original = await ThreePhases.pausedInTest(newStateDir());
});

function flip(bytes: Buffer, at: number, mask: number): Buffer {
  const flipped = Buffer.from(bytes);
  flipped.writeUInt8(flipped.readUInt8(at) ^ mask, at);
  return flipped;
}

function isDetected(bytes: Buffer): boolean {
  try {
    readCheckpoint(bytes, "the file");
    return false;
  } catch (error) {
    return CheckpointCorrupt.is(error);
  }
}

function sealAgain(path: string, change: JsonObject): void {
  writeFileSync(path, seal({ ...unseal(readFileSync(path), path).content, ...change }));
}

describe("reading a damaged checkpoint", () => {
  test.each(checkpoints)("detects every flipped bit and every truncation of %s", (name) => {
    const bytes = readFileSync(original.file(name));
    expect(isDetected(bytes)).toBe(false);
    const undetected: string[] = [];
    for (let at = 0; at < bytes.length; at += 1) {
      for (let mask = 1; mask < 256; mask *= 2) {
        if (!isDetected(flip(bytes, at, mask))) undetected.push(`byte ${at} with mask ${mask}`);
      }
      if (!isDetected(bytes.subarray(0, at))) undetected.push(`cut to ${at} bytes`);
    }
    for (const more of ["\n", " ", "\0", "}", bytes.toString()]) {
      if (!isDetected(Buffer.concat([bytes, Buffer.from(more)]))) undetected.push(`with ${more} behind it`);
    }
    expect(undetected).toEqual([]);
    expect(bytes.length).toBeGreaterThan(500);
  });
});

describe("with the journal intact", () => {
  test("a resume reports a damaged checkpoint and writes it again with the same bytes", async () => {
    const damage = await Damage.prepare(temporaryDirectory());
    const random = seededRandom(1);
    for (let round = 0; round < 12; round += 1) expect(await damage.checkpoint(random)).toBe("completed");
  });

  test("a resume writes a checkpoint again that is missing or replaced by another one", async () => {
    const session = original.copy(newStateDir());
    const before = session.contents();
    const stranger = await ThreePhases.pausedInTest(newStateDir());
    for (const name of checkpoints) {
      rmSync(session.file(name));
      expect((await session.resume()).ran).toEqual([]);
      expect(session.notices.join()).toContain("is missing; written again");
      for (const other of [stranger.file(name), session.file("checkpoint_plan.json")]) {
        if (other === session.file(name)) continue;
        writeFileSync(session.file(name), readFileSync(other));
        expect((await session.resume()).ran).toEqual([]);
        expect(session.notices.join()).toContain("is damaged; written again");
      }
    }
    for (const name of checkpoints) expect(session.contents()[name]).toBe(before[name]);
  });

  test.each(["checkpoint_init.json", "checkpoint_build.json", "execution_state.json"])(
    "a resume refuses %s of a newer format and writes nothing",
    async (name) => {
      const session = original.copy(newStateDir());
      sealAgain(session.file(name), { format: 999 });
      const before = session.contents();
      const error = await session.refusal();
      expect(error).toBeInstanceOf(StateTooNew);
      expect(error.message).toContain("999");
      expect(error.advice).toContain("Update");
      expect(session.contents()).toEqual(before);
    },
  );

  test("a resume writes a missing or damaged summary again, and reports the damage", async () => {
    const session = original.copy(newStateDir());
    const path = session.file("execution_state.json");
    rmSync(path);
    expect((await session.resume()).ran).toEqual([]);
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({
      status: "paused",
      phases: { completed: 2 },
    });
    writeFileSync(path, flip(readFileSync(path), 40, 1));
    expect((await session.resume()).ran).toEqual([]);
    expect(session.notices.join()).toContain("execution_state.json");
    expect(session.notices.join()).toContain("is damaged; it is written again");
    expect(unseal(readFileSync(path), path).content).toMatchObject({ status: "paused" });
  });

  test("a resume reports a database from an older backup and continues from it", async () => {
    const session = original.copy(newStateDir());
    const backup = `${session.stateDir}-backup`;
    session.keepDatabaseAs(backup);
    await session.resume();
    session.loseDatabase();
    renameSync(`${backup}/maestro.db`, `${session.stateDir}/maestro.db`);
    rmSync(backup, { recursive: true });
    session.paused = false;
    const { result, ran } = await session.resume();
    expect(result.status).toBe("completed");
    expect(ran).toEqual(["test first", "test second"]);
    expect(session.notices.join()).toContain("may come from an older backup");
  });
});

describe("without the database", () => {
  const [testSteps, buildSteps, planSteps] = ["test", "build", "plan"].map((phase) => [
    `${phase} first`,
    `${phase} second`,
  ]) as [string[], string[], string[]];

  test.each([
    ["with every checkpoint valid", [], testSteps],
    ["with the newest checkpoint damaged", ["checkpoint_build.json"], [...buildSteps, ...testSteps]],
    [
      "with a checkpoint in the middle damaged",
      ["checkpoint_plan.json"],
      [...planSteps, ...buildSteps, ...testSteps],
    ],
  ])("a resume keeps the phases before the first damaged checkpoint, %s", async (_, damaged, expected) => {
    const session = original.copy(newStateDir());
    const before = session.contents();
    session.loseDatabase();
    for (const name of damaged) {
      const bytes = readFileSync(session.file(name));
      writeFileSync(session.file(name), flip(bytes, Math.floor(bytes.length / 2), 1));
    }
    session.paused = false;
    const { result, ran } = await session.resume();
    expect(result.status).toBe("completed");
    expect(ran).toEqual(expected);
    expect(result.results["plan"]?.["worker"]?.summary).toBe("plan is done");
    expect(session.notices.join()).toContain("brought back from its checkpoints");
    expect(session.contents()["checkpoint_init.json"]).toBe(before["checkpoint_init.json"]);
    // The restored session is complete: a second resume has nothing to do.
    const listed = await session.with((maestro) => maestro.checkpoints(session.id));
    expect(listed.map(({ phase, valid }) => [phase, valid])).toEqual(
      ["init", "plan", "build", "test"].map((phase) => [phase, true]),
    );
    expect((await session.resume()).ran).toEqual([]);
  });

  test("a lost session is found by its key, and no new session gets the key", async () => {
    const session = original.copy(newStateDir());
    session.loseDatabase();
    session.paused = false;
    const result = await session.with(async (maestro) => (await maestro.resume("k")).result());
    expect([result.id, result.status]).toEqual([session.id, "completed"]);
    expect(session.ran).toEqual(testSteps);
  });

  test("a session can be restored again and again", async () => {
    const session = original.copy(newStateDir());
    for (let round = 0; round < 3; round += 1) {
      session.loseDatabase();
      expect((await session.resume()).result.status).toBe("paused");
    }
    session.paused = false;
    expect((await session.resume()).ran).toEqual(testSteps);
  });

  test("a damaged first checkpoint is an error that advises a backup, and nothing is written", async () => {
    const session = original.copy(newStateDir());
    session.loseDatabase();
    writeFileSync(
      session.file("checkpoint_init.json"),
      flip(readFileSync(session.file("checkpoint_init.json")), 9, 1),
    );
    const before = session.contents();
    const error = await session.refusal();
    expect(error).toBeInstanceOf(CheckpointCorrupt);
    expect(error.message).toContain(session.id);
    expect(error.advice).toContain("backup");
    expect(session.contents()).toEqual(before);
  });

  test("a checkpoint of a newer format is refused and not ignored", async () => {
    const session = original.copy(newStateDir());
    session.loseDatabase();
    sealAgain(session.file("checkpoint_build.json"), { format: 999 });
    const before = session.contents();
    expect(await session.refusal()).toBeInstanceOf(StateTooNew);
    expect(session.contents()).toEqual(before);
  });
});
