import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { MaestroError, StateCorrupt } from "../../src/domain/errors.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { newStateDir } from "./damage-support/temporary-directory.ts";
import { databaseFiles, ThreePhases } from "./damage-support/three-phases.ts";

const seed = Number(process.env["TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 32));
const refusals = ["StateCorrupt", "JournalCorrupt", "StorageFailed", "SessionNotFound"];
/** A session's own row has no hash: damage there (id, team, fingerprint) is refused, though not as the damage it is. */
const refusalsByAnotherName = ["TeamInvalid", "TeamChanged", "SessionConflict"];
const allSteps = ["plan", "build", "test"].flatMap((phase) => [`${phase} first`, `${phase} second`]);

let original: ThreePhases;
/** As a power cut leaves it: with everything still in the write-ahead log. */
let cutOff: ThreePhases;
beforeAll(async () => {
  original = await ThreePhases.pausedInTest(newStateDir());
  cutOff = new ThreePhases(newStateDir());
  const program = fileURLToPath(new URL("damage-support/pause-and-die.ts", import.meta.url));
  const { stdout, signal } = spawnSync(process.execPath, [program, cutOff.stateDir], { encoding: "utf8" });
  if (signal !== "SIGKILL") throw new Error(`the program was not killed: ${stdout}`);
  cutOff.id = stdout;
});

/** Damage must end in a clear refusal, or in the right results with every repeated step announced. */
async function expectHonest(session: ThreePhases, what: string): Promise<"refused" | "completed"> {
  session.paused = false;
  const end = await session.resume().catch((error: unknown) => {
    const { name } = MaestroError.is(error) ? error : { name: "" };
    const isSafe = refusalsByAnotherName.includes(name) && session.ran.length === 0;
    if (!isSafe && !refusals.includes(name)) throw new Error(`${what}: not a clear error`, { cause: error });
  });
  if (end === undefined) return "refused";
  const { result, ran } = end;
  expect([what, result.status]).toEqual([what, "completed"]);
  for (const phase of ["plan", "build", "test"]) {
    expect(result.results[phase]?.["worker"]).toEqual({
      summary: `${phase} is done`,
      outputs: { results: [`${phase} first`, `${phase} second`] },
    });
  }
  expect(allSteps.slice(-ran.length)).toEqual(ran);
  const announced = session.notices.some((notice) =>
    /older backup|brought back|not in the database/.test(notice),
  );
  if (ran.length > 2 && !announced) throw new Error(`${what}: ${ran.join(", ")} ran again without a word`);
  return "completed";
}

describe("a damaged database", () => {
  test("is refused with the advice that brings its sessions back", async () => {
    const session = original.copy(newStateDir());
    const path = join(session.stateDir, "maestro.db");
    writeFileSync(path, Buffer.concat([randomBytes(100), readFileSync(path).subarray(100)]));
    const error = await session.refusal();
    expect(error).toBeInstanceOf(StateCorrupt);
    expect(error.advice).toContain(`mv ${path} ${path}.damaged`);
    // As the advice says.
    renameSync(path, `${path}.damaged`);
    session.paused = false;
    const { result, ran } = await session.resume();
    expect(result.status).toBe("completed");
    expect(ran).toEqual(["test first", "test second"]);
  });

  test(`gives right results or a clear refusal, wherever the damage is (TEST_SEED=${seed})`, async () => {
    const random = seededRandom(seed);
    const ends = new Map<string, number>();
    for (let round = 0; round < 60; round += 1) {
      const session = original.copy(newStateDir());
      const path = join(session.stateDir, "maestro.db");
      const bytes = readFileSync(path);
      const length = [1, 8, 64, 4_096][round % 4] ?? 1;
      const at = 100 + Math.floor(random() * (bytes.length - length - 100));
      for (let offset = 0; offset < length; offset += 1) bytes[at + offset] = Math.floor(random() * 256);
      writeFileSync(path, bytes);
      const end = await expectHonest(session, `round ${round}: ${length} bytes at ${at}`);
      ends.set(end, (ends.get(end) ?? 0) + 1);
    }
    // Otherwise the damage hit nothing that matters, and the test says nothing.
    expect(ends.get("refused")).toBeGreaterThan(2);
  });

  test.each(["an empty file", "no file"])(
    "that was replaced by %s: its sessions go on",
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
  test("is read whole after a power cut", async () => {
    const session = cutOff.copy(newStateDir());
    expect(readFileSync(join(session.stateDir, databaseFiles[1])).length).toBeGreaterThan(50_000);
    expect(await expectHonest(session, "intact")).toBe("completed");
    expect(session.ran).toEqual(["test first", "test second"]);
  });

  test(`never makes steps run again without a word (TEST_SEED=${seed})`, async () => {
    const random = seededRandom(seed);
    for (let round = 0; round < 40; round += 1) {
      const session = cutOff.copy(newStateDir());
      const path = join(session.stateDir, databaseFiles[1]);
      const bytes = readFileSync(path);
      const at = Math.floor(random() * bytes.length);
      if (round % 4 === 0) writeFileSync(path, bytes.subarray(0, at));
      else {
        bytes.writeUInt8(bytes.readUInt8(at) ^ (1 + Math.floor(random() * 255)), at);
        writeFileSync(path, bytes);
      }
      const what = `round ${round}: ${round % 4 === 0 ? "cut" : "flipped"} at ${at}`;
      expect(["completed", "refused"]).toContain(await expectHonest(session, what));
    }
  });
});
