import { usageReport } from "../cost/reports.ts";
import type { SessionId } from "../domain/ids.ts";
import { noUsage } from "../domain/usage.ts";
import type { UsageRow, UsageTotals } from "../domain/usage-totals.ts";
import { reduceCard } from "../journal/reduce.ts";
import type { SessionCard } from "../journal/session-card.ts";
import type { ListedSession, UsageGroupSums } from "../store/reports.ts";
import type { Store } from "../store/store.ts";

/** A session as lists show it. */
export interface SessionListing extends ListedSession {
  readonly card: SessionCard;
  readonly usage: UsageTotals;
}

/** One query of the ledger for all sessions. A session without a stored card is read from the journal. */
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
    const card = session.card ?? (await cardOf(session.id, store));
    listings.push({ ...session, card, usage: usageOf(session.id) });
  }
  return listings;
}

/** The card of a session that has no stored one. */
async function cardOf(id: SessionId, store: Store): Promise<SessionCard> {
  let card: SessionCard | undefined;
  for await (const page of store.readTransitions(id)) for (const row of page) card = reduceCard(card, row);
  if (card === undefined) throw new Error(`session ${id} has no first row`);
  return card;
}

/** Limited to these sessions, because a state directory may hold thousands. */
export async function usageOfEach(
  ids: readonly SessionId[],
  store: Store,
): Promise<(id: SessionId) => UsageTotals> {
  const { rows } = await usageReport(store, { by: "session", sessions: ids, most: ids.length });
  const used = new Map(rows.map(({ name, ...totals }) => [name, totals]));
  const { total: unused } = await usageReport(reportsOf([]), { by: "session" });
  return (id) => used.get(id) ?? unused;
}

/** Sums as rows of a usage report. */
export async function reportOf(groups: readonly UsageGroupSums[]): Promise<readonly UsageRow[]> {
  return (await usageReport(reportsOf(groups), { by: "session" })).rows;
}

function reportsOf(groups: readonly UsageGroupSums[]): Parameters<typeof usageReport>[0] {
  return { reports: { usage: async () => ({ total: nothing, groups }) } };
}

const nothing: UsageGroupSums = {
  name: null,
  saved: [],
  reservedMicroUsd: 0,
  prices: [],
  calls: 0,
  failedCalls: 0,
  ...noUsage,
  costMicroUsd: 0,
  unpricedCalls: 0,
  unreportedCalls: 0,
  simulatedCalls: 0,
  simulatedMicroUsd: 0,
  simulatedUnreportedCalls: 0,
  simulatedEstimatedTokens: 0,
  simulatedEstimatedMicroUsd: 0,
  estimatedTokens: 0,
  estimatedMicroUsd: 0,
};
