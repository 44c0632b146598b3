import type { LayerStore } from "./layer-store.ts";

interface LayerPolicy {
  /** Layers that were last used before this time go. */
  readonly before: number;
  readonly dryRun: boolean;
  /** Whether this session is not finished: its layers stay. */
  readonly isLive: (session: string) => Promise<boolean>;
}

/** Removes layers by their last use, and gives their number. */
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
