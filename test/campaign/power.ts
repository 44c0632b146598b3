import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { expect } from "vitest";
import type { ClerkOptions } from "../crash/damage-support/clerk-work.ts";
import { PowerDisk } from "../crash/damage-support/power-disk.ts";
import { counts, linesOf } from "../crash/damage-support/run-clerk.ts";
import { asOnlooker } from "../crash/support/onlooker.ts";
import { Program } from "../crash/support/program.ts";
import { until } from "../crash/support/until.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse, type Trial } from "./campaign.ts";
import { clerkIn } from "./disk.ts";
import { inFolder } from "./in-folder.ts";

const fillings = ["nothing", "rows", "artifacts"] as const;

export const powerTrials: readonly Trial[] = (PowerDisk.isPossible ? fillings : []).map((filling) => ({
  title: `steps that write ${filling === "nothing" ? "little" : filling}`,
  run: (seed) => cutPower(filling, seed),
}));

/**
 * Cuts the power of the disk at one to three random moments: whatever was not synced is gone, for the database and for
 * every other file. Each acknowledged step must still be on record afterwards.
 */
export async function cutPower(filling: (typeof fillings)[number], seed: number): Promise<number> {
  const random = seededRandom(seed);
  return inFolder(async (folder) => {
    const disk = new PowerDisk(join(folder, "disk"));
    const options = clerkIn(join(disk.path, "state"), folder, { steps: 30, filling });
    try {
      const cuts = 1 + Math.floor(random() ** 2 * 3);
      const found: Cut[] = [];
      for (let cut = 0; cut < cuts; cut += 1) found.push(await workUntilCut(options, disk, random));
      const { code, stdout, stderr } = await work(options).ended;
      expect([code, stdout && JSON.parse(stdout)], stderr).toEqual([0, { status: "completed", results: 2 }]);
      expectKept(options, found);
      const checkpoints = await asOnlooker(options, (maestro) => maestro.checkpoints("pages"));
      orElse("lost", () => expect(checkpoints.filter(({ valid }) => !valid)).toEqual([]));
      return cuts;
    } catch (cause) {
      throw new Error(`filling ${filling}, seed ${seed}`, { cause });
    } finally {
      await disk.remove();
    }
  });
}

function work(options: ClerkOptions): Program {
  return new Program("../damage-support/clerk.ts", options);
}

/** The process dies with the power; a moment later it would only see errors of a disk that is gone. */
async function workUntilCut(options: ClerkOptions, disk: PowerDisk, random: () => number): Promise<Cut> {
  const before = linesOf(options.acknowledged).length;
  // A step that is replayed is acknowledged again.
  const acknowledgedNow = () => linesOf(options.acknowledged).slice(before);
  const goal = Math.floor(random() * 2 * options.steps);
  const program = work(options);
  await until("the moment has come", () => !program.isAlive || acknowledgedNow().length >= goal);
  await pass(random() * 20);
  const acknowledged = acknowledgedNow();
  disk.cutPower();
  await program.end();
  await disk.restore();
  const late = acknowledgedNow().length - acknowledged.length;
  return { acknowledged, late, effects: linesOf(options.effects).length };
}

interface Cut {
  /** The steps that this process had acknowledged when the cut began. */
  readonly acknowledged: readonly string[];
  /**
   * How many were acknowledged while the disk was shut down. Unlike in a real power cut the processor continues, and the
   * kernel may report a sync as done although it has just dropped its journal.
   */
  readonly late: number;
  /** How many effects had happened when the power was back. */
  readonly effects: number;
}

/** A step may happen again only if the power was cut while it was under way: at most one for each cut. */
function expectKept({ effects, steps }: ClerkOptions, cuts: readonly Cut[]): void {
  const happened = linesOf(effects);
  for (const [cut, { acknowledged, effects: before }] of cuts.entries()) {
    const again = new Set(happened.slice(before));
    const lost = acknowledged.filter((label) => again.has(label));
    orElse("lost", () =>
      expect(lost, `acknowledged before cut ${cut + 1}, and ran again after it`).toEqual([]),
    );
  }
  const found = counts(happened);
  expect(found.size).toBe(2 * steps);
  const repeated = [...found].filter(([, count]) => count > 1);
  const times = repeated.reduce((sum, [, count]) => sum + count - 1, 0);
  const allowed = cuts.reduce((sum, { late }) => sum + 1 + late, 0);
  orElse("repeated", () => expect(times, `ran again: ${repeated.join("; ")}`).toBeLessThanOrEqual(allowed));
}
