import type { LayerStore } from "./layer-store.ts";

interface LayerPolicy {
  /** Remove layers last used before this time. */
  readonly before: number;
  readonly dryRun: boolean;
  /** Whether this session is unfinished, so that its layers stay. */
  readonly isLive: (session: string) => Promise<boolean>;
}

/** Removes layers by their last use and returns their number. */
export async function pruneLayers(
  layers: LayerStore,
  { before, dryRun, isLive }: LayerPolicy,
): Promise<number> {
  if (!dryRun) await layers.sweep();
  let removed = 0;
  for (const { key, usedAt, sessions } of await layers.list()) {
    if (usedAt >= before) continue;
    const live = await Promise.all(sessions.map(isLive));
    if (live.includes(true)) continue;
    if (dryRun || (await layers.remove(key, isLive))) removed += 1;
  }
  return removed;
}
