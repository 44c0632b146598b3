import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { expect } from "vitest";
import type { ClerkOptions } from "../crash/damage-support/clerk.ts";
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

export const powerTrials: readonly Trial[] = fillings.map((filling) => ({
  title: `steps that write ${filling === "nothing" ? "little" : filling}`,
  run: (seed) => cutPower(filling, seed),
}));

/**
 * Cuts the power of the disk at one to three random moments: whatever was not synced is gone, for the database and for
 * every other file. Each acknowledged step must still be on record afterwards.
 */
export async function cutPower(filling: (typeof fillings)[number], seed: number): Promise<number> {
  if (!PowerDisk.isPossible) throw new Error("an ext4 file system cannot be mounted and shut down here");
  const random = seededRandom(seed);
  return inFolder(async (folder) => {
    const disk = new PowerDisk(join(folder, "disk"));
    const options = clerkIn(join(disk.path, "state"), folder, { steps: 30, filling });
    try {
      const cuts = 1 + Math.floor(random() ** 2 * 3);
      for (let cut = 0; cut < cuts; cut += 1) await workUntilCut(options, disk, random);
      const acknowledged = linesOf(options.acknowledged);
      const effectsBefore = linesOf(options.effects);
      const { code, stdout, stderr } = await work(options).ended;
      expect([code, stdout && JSON.parse(stdout)], stderr).toEqual([0, { status: "completed", results: 2 }]);
      expectKept(options, { cuts, acknowledged, effectsBefore });
      const checkpoints = await asOnlooker(options, (maestro) => maestro.checkpoints("pages"));
      orElse("lost", () => expect(checkpoints.filter(({ valid }) => !valid)).toEqual([]));
      return cuts;
    } catch (cause) {
      throw new Error(`filling ${filling}, seed ${seed}`, { cause });
    } finally {
      disk.remove();
    }
  });
}

function work(options: ClerkOptions): Program {
  return new Program("../damage-support/clerk.ts", options);
}

/** The process is killed with the power; later it would only see disk errors. */
async function workUntilCut(options: ClerkOptions, disk: PowerDisk, random: () => number): Promise<void> {
  const done = linesOf(options.acknowledged).length;
  const goal = done + Math.floor(random() * (2 * options.steps - done));
  const program = work(options);
  await until("the moment has come", () => !program.isAlive || linesOf(options.acknowledged).length >= goal);
  await pass(random() * 20);
  disk.cutPower();
  await program.end();
  disk.restore();
}

interface Before {
  readonly cuts: number;
  readonly acknowledged: readonly string[];
  readonly effectsBefore: readonly string[];
}

/** A step runs again only if the power was cut while it ran: at most one per cut. */
function expectKept({ effects, steps }: ClerkOptions, { cuts, acknowledged, effectsBefore }: Before): void {
  const again = linesOf(effects).slice(effectsBefore.length);
  const lost = acknowledged.filter((label) => again.includes(label));
  orElse("lost", () => expect(lost, "acknowledged steps that ran again").toEqual([]));
  const found = counts(linesOf(effects));
  expect(found.size).toBe(2 * steps);
  const repeated = [...found].filter(([, count]) => count > 1);
  const times = repeated.reduce((sum, [, count]) => sum + count - 1, 0);
  orElse("repeated", () => expect(times, `ran again: ${repeated.join("; ")}`).toBeLessThanOrEqual(cuts));
}
