import type { Maestro } from "./maestro.ts";
import { stepsTeam } from "./workload.ts";

export interface Together {
  readonly stepsPerSecond: number;
  readonly delayP99Ms: number;
  readonly delayMaxMs: number;
}

export interface Watcher {
  /** Every session is running. */
  readonly onAllAtWork: () => void;
  readonly onStep?: () => void;
  /** The first session reaches its last step; fewer sessions run from here on. */
  readonly onFirstDone?: () => void;
}

/** Creates all sessions, drives them together, and releases them once each is inside its first step. */
export async function runTogether(
  maestro: Maestro,
  { sessions, steps }: { readonly sessions: number; readonly steps: number },
  { onAllAtWork, onStep, onFirstDone }: Watcher,
): Promise<void> {
  const loose = Promise.withResolvers<void>();
  const atStep = Array.from({ length: steps }, () => 0);
  const team = stepsTeam(steps, (index) => {
    const here = (atStep[index] ?? 0) + 1;
    atStep[index] = here;
    if (index === Math.min(1, steps - 1) && here === sessions) onAllAtWork();
    onStep?.();
    if (index === steps - 1 && here === 1) onFirstDone?.();
    if (index > 0) return undefined;
    if (here === sessions) loose.resolve();
    return loose.promise;
  });
  const created = await Promise.all(
    Array.from({ length: sessions }, () => maestro.create(team, { brief: "together" })),
  );
  await Promise.all(created.map(async ({ id }) => (await maestro.resume(id, { team })).result()));
}
