import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { MaestroError } from "../../src/index.ts";
import { temporaryDirectory } from "../crash/damage-support/temporary-directory.ts";
import { databaseFiles, ThreePhases } from "../crash/damage-support/three-phases.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse, type Trial } from "./campaign.ts";
import { inFolder } from "./in-folder.ts";

const refusals = ["StateCorrupt", "JournalCorrupt", "StorageFailed", "SessionNotFound"];
/** A session's own row has no hash: damage to its id, team or fingerprint is refused with another error. */
const refusalsByAnotherName = ["TeamInvalid", "TeamChanged", "SessionConflict"];
const phases = ["plan", "build", "test"];
const allSteps = phases.flatMap((phase) => [`${phase} first`, `${phase} second`]);

/** Keeps the state directories that every trial copies. */
export class Damage {
  /** Paused in its last phase, and closed. */
  readonly original: ThreePhases;
  /** As after a power cut: everything is still in the write-ahead log. */
  readonly cutOff: ThreePhases;

  private constructor(original: ThreePhases, cutOff: ThreePhases) {
    this.original = original;
    this.cutOff = cutOff;
  }

  static async prepare(folder: string): Promise<Damage> {
    const original = await ThreePhases.pausedInTest(join(folder, "original"));
    const cutOff = new ThreePhases(join(folder, "cut-off"));
    const program = join(import.meta.dirname, "../crash/damage-support/pause-and-die.ts");
    const { stdout, signal } = spawnSync(process.execPath, [program, cutOff.stateDir], { encoding: "utf8" });
    if (signal !== "SIGKILL") throw new Error(`the program was not killed: ${stdout}`);
    cutOff.id = stdout;
    return new Damage(original, cutOff);
  }

  /** Random bytes somewhere in the database, after its header. */
  database(random: () => number, round: number): Promise<End> {
    return inFolder<End>(async (folder) => {
      const session = this.original.copy(join(folder, "state"));
      const path = join(session.stateDir, "maestro.db");
      const bytes = readFileSync(path);
      const length = [1, 8, 64, 4_096][round % 4] ?? 1;
      const at = 100 + Math.floor(random() * (bytes.length - length - 100));
      for (let offset = 0; offset < length; offset += 1) bytes[at + offset] = Math.floor(random() * 256);
      writeFileSync(path, bytes);
      return expectHonest(session, `round ${round}: ${length} bytes at ${at}`);
    });
  }

  /** A flipped byte or a torn end of the write-ahead log. */
  log(random: () => number, round: number): Promise<End> {
    return inFolder<End>(async (folder) => {
      const session = this.cutOff.copy(join(folder, "state"));
      const path = join(session.stateDir, databaseFiles[1]);
      const { how, at } = damage(path, random, round % 4 === 0);
      return expectHonest(session, `round ${round}: ${how} at ${at}`);
    });
  }

  /** A damaged checkpoint beside an intact journal: it is reported, and written again byte for byte. */
  checkpoint(random: () => number): Promise<End> {
    return inFolder<End>(async (folder) => {
      const session = this.original.copy(join(folder, "state"));
      const names = readdirSync(session.folder).filter((name) => name.startsWith("checkpoint_"));
      const name = names[Math.floor(random() * names.length)] as string;
      const bytes = readFileSync(session.file(name));
      damage(session.file(name), random, random() < 0.2);
      const listed = await session.with((maestro) => maestro.checkpoints(session.id));
      orElse("let in", () =>
        expect(listed.filter(({ valid }) => !valid).map(({ file }) => file)).toEqual([name]),
      );
      const { result, ran } = await session.resume();
      expect(result.status).toBe("paused");
      orElse("repeated", () => expect(ran).toEqual([]));
      orElse("let in", () =>
        expect(session.notices.join()).toMatch(/is damaged.*written again from the journal/),
      );
      expect(readFileSync(session.file(name)).equals(bytes)).toBe(true);
      return "completed";
    });
  }

  /** A damaged checkpoint without a database: the phases before it are kept. */
  checkpointAlone(random: () => number): Promise<End> {
    return inFolder<End>(async (folder) => {
      const session = this.original.copy(join(folder, "state"));
      const names = readdirSync(session.folder).filter((name) => name.startsWith("checkpoint_"));
      const name = names[Math.floor(random() * names.length)] as string;
      session.loseDatabase();
      const { how, at } = damage(session.file(name), random, random() < 0.2);
      return expectHonest(session, `${name} ${how} at ${at}`, ["CheckpointCorrupt"]);
    });
  }

  /** A damaged export: the import refuses it, and writes nothing. */
  exported(random: () => number): Promise<End> {
    return inFolder<End>(async (folder) => {
      const file = join(folder, "export");
      const source = this.original.copy(join(folder, "source"));
      await source.with((maestro) => maestro.exportCheckpoints(source.id, file));
      const { how, at } = damage(file, random, random() < 0.2);
      const target = new ThreePhases(join(folder, "target"));
      const error: Error | undefined = await target
        .with((maestro) => maestro.importCheckpoints(file, { trust: true }))
        .then(
          () => undefined,
          (reason: Error) => reason,
        );
      if (error === undefined) {
        // The header of the archive has bytes without effect, such as its time.
        orElse("let in", () => expect(at, `an export that was ${how} at ${at}`).toBeLessThan(10));
        return "completed";
      }
      expect(MaestroError.is(error), `${how} at ${at}: ${error}`).toBe(true);
      const sessions = join(target.stateDir, "sessions");
      orElse("let in", () => expect(statSync(sessions, { throwIfNoEntry: false })).toBeUndefined());
      return "refused";
    });
  }
}

export type End = "refused" | "completed";

function damage(path: string, random: () => number, isTorn: boolean): { how: string; at: number } {
  const bytes = readFileSync(path);
  const at = Math.floor(random() * bytes.length);
  if (isTorn) writeFileSync(path, bytes.subarray(0, at));
  else {
    bytes.writeUInt8(bytes.readUInt8(at) ^ (1 + Math.floor(random() * 255)), at);
    writeFileSync(path, bytes);
  }
  return { how: isTorn ? "cut" : "flipped", at };
}

/** Damage ends in a clear refusal, or in the right results with every repeated step announced. */
export async function expectHonest(
  session: ThreePhases,
  what: string,
  alsoRefusedAs: readonly string[] = [],
): Promise<End> {
  session.paused = false;
  const end = await session.resume().catch((error: unknown) => {
    const { name } = MaestroError.is(error) ? error : { name: "" };
    const isSafe = refusalsByAnotherName.includes(name) && session.ran.length === 0;
    if (!isSafe && ![...refusals, ...alsoRefusedAs].includes(name))
      throw new Error(`${what}: not a clear error`, { cause: error });
  });
  if (end === undefined) return "refused";
  const { result, ran } = end;
  expect([what, result.status]).toEqual([what, "completed"]);
  for (const phase of phases) {
    orElse("let in", () =>
      expect(result.results[phase]?.["worker"], what).toEqual({
        summary: `${phase} is done`,
        outputs: { results: [`${phase} first`, `${phase} second`] },
      }),
    );
  }
  expect(allSteps.slice(-ran.length)).toEqual(ran);
  const isAnnounced = session.notices.some((notice) =>
    /older backup|brought back|not in the database/.test(notice),
  );
  orElse("repeated", () =>
    expect(ran.length > 2 && !isAnnounced, `${what}: ${ran.join(", ")} ran again without a notice`).toBe(
      false,
    ),
  );
  return "completed";
}

let prepared: Promise<Damage> | undefined;
const roundsPerTrial = 10;

function trial(
  title: string,
  run: (damage: Damage, random: () => number, round: number) => Promise<End>,
): Trial {
  return {
    title,
    run: async (seed) => {
      prepared ??= Damage.prepare(temporaryDirectory());
      const [damage, random] = [await prepared, seededRandom(seed)];
      try {
        for (let round = 0; round < roundsPerTrial; round += 1) await run(damage, random, round);
      } catch (cause) {
        throw new Error(`seed ${seed}`, { cause });
      }
      return roundsPerTrial;
    },
  };
}

export const damageTrials: readonly Trial[] = [
  trial("a damaged database", (damage, random, round) => damage.database(random, round)),
  trial("a damaged write-ahead log", (damage, random, round) => damage.log(random, round)),
  trial("a damaged checkpoint", (damage, random) => damage.checkpoint(random)),
  trial("a damaged checkpoint without a database", (damage, random) => damage.checkpointAlone(random)),
  trial("a damaged export", (damage, random) => damage.exported(random)),
];
