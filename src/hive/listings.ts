import { type UsageRow, type UsageTotals, usageReport } from "../cost/reports.ts";
import { cardOfState } from "../domain/card-of-state.ts";
import type { SessionId } from "../domain/ids.ts";
import type { SessionCard } from "../domain/session-card.ts";
import type { UsageGroupSums } from "../state/ledger-store.ts";
import type { ListedSession } from "../state/listing-store.ts";
import { readState } from "../state/session-journal.ts";
import type { Store } from "../state/store.ts";

/** A session as lists show it. */
export interface SessionListing extends ListedSession {
  readonly card: SessionCard;
  readonly usage: UsageTotals;
}

/** One look at the ledger for all of them. Who has no card on record is read from the journal. */
export async function withUsage(
  sessions: readonly ListedSession[],
  store: Store,
): Promise<readonly SessionListing[]> {
  const usageOf = await usageOfEach(
    sessions.map(({ id }) => id),
    store,
  );
  const listings: SessionListing[] = [];
  for (const session of sessions) {
    const card = session.card ?? cardOfState(await readState(store, session.id));
    listings.push({ ...session, card, usage: usageOf(session.id) });
  }
  return listings;
}

/** Of these and no others: a state directory may hold thousands. */
export async function usageOfEach(
  ids: readonly SessionId[],
  store: Store,
): Promise<(id: SessionId) => UsageTotals> {
  const rows = await reportOf(await store.ledger.usageOf(ids));
  const used = new Map(rows.map(({ name, ...totals }) => [name, totals]));
  const { total: unused } = await usageReport(ledgerOf([]), { by: "session" });
  return (id) => used.get(id) ?? unused;
}

/** Sums as people read them. */
export async function reportOf(groups: readonly UsageGroupSums[]): Promise<readonly UsageRow[]> {
  return (await usageReport(ledgerOf(groups), { by: "session" })).rows;
}

function ledgerOf(groups: readonly UsageGroupSums[]): Parameters<typeof usageReport>[0] {
  return { ledger: { usage: async () => ({ total: nothing, groups }) } };
}

const nothing: UsageGroupSums = {
  name: null,
  saved: [],
  calls: 0,
  failedCalls: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  costMicroUsd: 0,
  unpricedCalls: 0,
  unreportedCalls: 0,
  simulatedCalls: 0,
  simulatedMicroUsd: 0,
  estimatedTokens: 0,
  estimatedMicroUsd: 0,
};
