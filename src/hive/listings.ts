import { type UsageRow, type UsageTotals, usageReport } from "../cost/reports.ts";
import { cardOfState } from "../domain/card-of-state.ts";
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
  const sums = await store.ledger.usageOf(sessions.map(({ id }) => id));
  const used = new Map((await reportOf(sums)).map((row) => [row.name, row]));
  const { total: unused } = await usageReport(ledgerOf([]), { by: "session" });
  const listings: SessionListing[] = [];
  for (const session of sessions) {
    const card = session.card ?? cardOfState(await readState(store, session.id));
    listings.push({ ...session, card, usage: used.get(session.id) ?? unused });
  }
  return listings;
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
