import { type Pruned, prune, removeDamaged } from "../store/retention.ts";
import type { SessionRecord } from "../store/store.ts";
import type { PruneOptions } from "./options.ts";
import type { Services } from "./services.ts";

export async function pruneState(
  { damaged, ...policy }: PruneOptions,
  services: Services,
  find: (idOrKey: string) => Promise<SessionRecord>,
): Promise<Pruned> {
  const { clock, onNotice, ticketFiles } = services;
  const parts = { ...services, now: clock.now(), report: onNotice };
  if (damaged !== undefined) return removeDamaged((await find(damaged)).id, parts);
  return prune(policy, {
    ...parts,
    removeTicketFile: (fingerprint) => ticketFiles.remove(fingerprint),
  });
}
