import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { ClerkOptions, Filling } from "../crash/damage-support/clerk-work.ts";
import {
  type Fault as CallFault,
  canInject,
  counts,
  failing,
  linesOf,
  orphans,
  runClerk,
} from "../crash/damage-support/run-clerk.ts";
import { SmallDisk } from "../crash/damage-support/small-disk.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse, type Trial } from "./campaign.ts";
import { inFolder } from "./in-folder.ts";

export function clerkIn(stateDir: string, outside: string, over: Partial<ClerkOptions> = {}): ClerkOptions {
  return {
    stateDir,
    steps: 10,
    filling: "nothing",
    effects: join(outside, "effects"),
    acknowledged: join(outside, "acknowledged"),
    ...over,
  };
}

/** A step that was acknowledged before the fault ran exactly once; the running step runs at most once more. */
export function expectOnce({ effects, steps }: ClerkOptions, acknowledgedBefore: readonly string[]): void {
  const found = counts(linesOf(effects));
  expect(found.size).toBe(2 * steps);
  orElse("lost", () => {
    for (const label of acknowledgedBefore) expect([label, found.get(label)]).toEqual([label, 1]);
  });
  const happened = [...found.values()].reduce((sum, count) => sum + count, 0);
  orElse("repeated", () => expect(happened).toBeLessThanOrEqual(2 * steps + 1));
}

/** No false success, acknowledged steps are kept, and the next start finishes the work. */
export async function expectNoHarm(
  options: ClerkOptions,
  under: readonly string[],
  ends: readonly string[] = ["completed", "StorageFailed", "StateUnavailable"],
): Promise<void> {
  const end = await runClerk(options, under);
  const acknowledged = linesOf(options.acknowledged);
  const claimed = "status" in end ? end.status : end.error;
  expect(ends).toContain(claimed);
  const effectsBefore = linesOf(options.effects).length;
  expect(await runClerk(options)).toEqual({ status: "completed", results: 2 });
  const ranAgain = linesOf(options.effects).length - effectsBefore;
  orElse("lost", () => expect(claimed === "completed" ? ranAgain : 0, "steps after a success").toBe(0));
  expectOnce(options, acknowledged);
  expect(orphans(options.stateDir)).toEqual([]);
}

/** Fills a small disk: nothing acknowledged is lost, and with room again the work is finished. */
export async function fillDisk(filling: Filling, steps: number, size = "2m"): Promise<void> {
  await inFolder(async (outside) => {
    const disk = new SmallDisk(size);
    try {
      const options = clerkIn(join(disk.path, "state"), outside, { steps, filling });
      const end = await runClerk(options);
      expect(end).toMatchObject({ error: "StorageFailed" });
      expect("advice" in end && end.advice).toMatch(/resume/);
      const acknowledged = linesOf(options.acknowledged);
      expect(acknowledged.length).toBeGreaterThan(2);
      expect(linesOf(options.effects).length).toBeLessThanOrEqual(acknowledged.length + 1);

      // On a disk that is still full the next try fails as well.
      const second = await runClerk(options);
      expect("error" in second && second.error).toMatch(/StorageFailed|StateUnavailable/);

      disk.remount("size=64m");
      rmSync(join(options.stateDir, "stranger"), { force: true });
      const again = { ...options, filling: filling === "stranger" ? "nothing" : filling } as const;
      expect(await runClerk(again)).toEqual({ status: "completed", results: 2 });
      const found = counts(linesOf(options.effects));
      expect(found.size).toBe(2 * steps);
      orElse("lost", () => {
        for (const label of acknowledged) expect([label, found.get(label)]).toEqual([label, 1]);
      });
      expect(orphans(options.stateDir)).toEqual([]);
    } finally {
      disk.remove();
    }
  });
}

/** Lets one system call fail. */
export async function failCall(fault: CallFault, steps = 10): Promise<{ readonly wasInjected: boolean }> {
  return inFolder(async (folder) => {
    const options = clerkIn(join(folder, "state"), folder, { steps });
    const trace = join(folder, "trace");
    await expectNoHarm(options, failing(fault, trace));
    return { wasInjected: linesOf(trace).some((line) => line.includes("(INJECTED)")) };
  });
}

const calls = ["fsync,fdatasync", "pwrite64", "rename", "ftruncate", "fallocate"] as const;
const fillings = [
  ["rows", 120, 200],
  ["artifacts", 8, 14],
  ["stranger", 4, 12],
] as const;

export const diskTrials: readonly Trial[] = [
  ...(canInject ? calls : []).map((call) => ({
    title: `${call} fails`,
    run: async (seed: number) => {
      const random = seededRandom(seed);
      const error = random() < 0.5 ? "EIO" : "ENOSPC";
      const when = 1 + Math.floor(random() ** 2 * (call === "pwrite64" ? 150 : 40));
      const { wasInjected } = await failCall({ call, when, error });
      return wasInjected ? 1 : 0;
    },
  })),
  ...(SmallDisk.isPossible ? fillings : []).map(([filling, least, most]) => ({
    title: `a disk that is filled by ${filling}`,
    run: async (seed: number) => {
      const random = seededRandom(seed);
      await fillDisk(filling, least + Math.floor(random() * (most - least)));
      return 1;
    },
  })),
];
