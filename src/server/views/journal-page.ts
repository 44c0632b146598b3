import type { Maestro } from "../../api/open.ts";
import { microsToUsd } from "../../domain/budget.ts";
import { isoTime } from "../../domain/iso-time.ts";
import { isFailure, isTransition } from "../../journal/facts.ts";
import type { FactOf, PublicFact } from "../../journal/public-fact.ts";
import type { SessionFeed } from "../feed/session-feed.ts";
import type { JournalFilter } from "../schemas/events.ts";

export interface JournalQuery {
  readonly before?: number | undefined;
  readonly limit: number;
  readonly show: JournalFilter;
}

export interface JournalPage {
  readonly entries: readonly PublicFact[];
  readonly total: number;
}

/** Entries before a seq (default: the end), newest first. */
export async function journalPage(
  maestro: Maestro,
  feed: SessionFeed,
  query: JournalQuery,
): Promise<JournalPage> {
  if (query.show === "money") return moneyPage(maestro, feed, query);
  const { transitions, failures } = feed.chronicle;
  const { before = feed.head + 1, limit, show } = query;
  const seqs = show === "transitions" ? transitions : show === "failures" ? failures : undefined;
  const wanted = seqs?.filter((seq) => seq < before).slice(-limit);
  const from = wanted === undefined ? Math.max(1, before - limit) : (wanted[0] ?? before);
  const matches = (fact: PublicFact): boolean =>
    show === "all" || (show === "transitions" ? isTransition(fact) : isFailure(fact));
  const entries: PublicFact[] = [];
  for await (const page of feed.replay(from - 1, before - 1))
    entries.push(...page.map(({ fact }) => fact).filter(matches));
  return { entries: entries.slice(-limit).toReversed(), total: seqs?.length ?? feed.head };
}

const callsAtOnce = 1_000;

/**
 * Calls of the ledger. Their seq is the number of the call in its session: several may belong to one row, or to
 * none yet.
 */
async function moneyPage(
  maestro: Maestro,
  feed: SessionFeed,
  { before = Number.MAX_SAFE_INTEGER, limit }: JournalQuery,
): Promise<JournalPage> {
  const entries: PublicFact[] = [];
  for (let page: NonNullable<Parameters<Maestro["calls"]>[1]> = { limit: callsAtOnce }; ; ) {
    const calls = await maestro.calls(feed.id, page);
    for (const call of calls) entries.push(moneyEntry(call, entries.length + 1));
    const last = calls.at(-1);
    if (last === undefined || calls.length < callsAtOnce) break;
    page = { after: last.reservation, limit: callsAtOnce };
  }
  const sorted = entries.toSorted((a, b) => b.seq - a.seq);
  return { entries: sorted.filter(({ seq }) => seq < before).slice(0, limit), total: entries.length };
}

type Call = Awaited<ReturnType<Maestro["calls"]>>[number];

function moneyEntry(made: Call, number: number): PublicFact {
  const { phase, persona, round, attempt, at, asked } = made;
  const place = { phase, persona, round, attempt, started: null, seq: number };
  const call = `model#${number}`;
  const usd = (micros: number | null): number | null => (micros === null ? null : microsToUsd(micros));
  if (made.status === "open") {
    const reserved: FactOf<"budget.reserved"> = {
      kind: "budget.reserved",
      call,
      usd: usd(asked.microUsd),
      tokens: asked.tokens,
    };
    return { ...place, at: isoTime(at), ...reserved };
  }
  const settled: FactOf<"budget.settled"> = {
    kind: "budget.settled",
    call,
    usd: usd(made.costMicroUsd ?? asked.microUsd),
    inputTokens: made.usage?.inputTokens ?? 0,
    outputTokens: made.usage?.outputTokens ?? 0,
    estimated: made.usage === null,
    tookMs: made.endedAt - at,
  };
  return { ...place, at: isoTime(made.endedAt), ...settled };
}
