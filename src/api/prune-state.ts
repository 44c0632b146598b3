import { finalStatuses } from "../journal/standing.ts";
import { type Pruned, prune, removeDamaged } from "../store/retention.ts";
import type { SessionRecord } from "../store/store.ts";
import type { PruneOptions } from "./options.ts";
import type { Services } from "./services.ts";

export interface PrunedState extends Pruned {
  /** Clones of repositories that no session needs. */
  readonly repositories: number;
  /** Installed dependencies that no session uses. */
  readonly layers: number;
}

/** Default age after which unused dependencies are removed. */
const unusedMs = 30 * 86_400_000;

export async function pruneState(
  { damaged, ...policy }: PruneOptions,
  services: Services,
  find: (idOrKey: string) => Promise<SessionRecord>,
): Promise<PrunedState> {
  const { clock, onNotice, ticketFiles, store, stateDirectory } = services;
  const parts = { ...services, now: clock.now(), report: onNotice };
  if (damaged !== undefined)
    return { ...(await removeDamaged((await find(damaged)).id, parts)), repositories: 0, layers: 0 };
  const pruned = await prune(policy, {
    ...parts,
    removeTicketFile: (fingerprint) => ticketFiles.remove(fingerprint),
  });
  const { pruneClones } = await import("../workspace/repository/kept-clones.ts");
  const repositories = await pruneClones(stateDirectory, {
    now: clock.now(),
    dryRun: policy.dryRun ?? false,
    isReferenced: async (hash) => (await store.reports.findReferenced([hash])).has(hash),
  });
  const { pruneLayers } = await import("../workspace/layers/prune-layers.ts");
  const layers = await pruneLayers(services.layers, {
    before: clock.now() - (policy.olderThanMs ?? unusedMs),
    dryRun: policy.dryRun ?? false,
    isLive: async (id) => {
      const status = (await store.findSession(id))?.status;
      return status !== undefined && !finalStatuses.includes(status);
    },
  });
  return { ...pruned, repositories, layers };
}
