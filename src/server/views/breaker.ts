import type { Maestro } from "../../api/open.ts";
import type { BreakerRecord } from "../../domain/breaker.ts";
import { isoTimeOrNull } from "../../domain/iso-time.ts";
import type { BreakerView } from "../schemas/server.ts";
import type { Listing } from "./listing.ts";

/** At most this many sessions are searched for those that wait. */
const mostSessions = 500;

export interface BreakerLimits {
  readonly threshold: number;
  readonly cooldownMs: number;
}

/** Every breaker with the sessions that wait for it. */
export async function breakerViews(
  maestro: Maestro,
  limits: BreakerLimits,
  now: number,
): Promise<BreakerView[]> {
  const breakers = await maestro.breakers();
  const isQuiet = ({ state, notBefore }: BreakerRecord) => state.kind === "closed" && notBefore === null;
  const waiting = breakers.every(({ record }) => isQuiet(record)) ? [] : await waitersOf(maestro, now);
  return breakers.map(({ dependency, record }) => ({
    name: dependency,
    ...stateView(record, limits),
    notBefore: isoTimeOrNull(record.notBefore !== null && record.notBefore > now ? record.notBefore : null),
    cooldownMs: limits.cooldownMs,
    threshold: limits.threshold,
    waiting: waiting.flatMap(({ on, ...waiter }) => (on === dependency ? [waiter] : [])),
  }));
}

type StateView = Pick<BreakerView, "state" | "failures" | "openedAt" | "probeAt" | "failedProbes">;

function stateView({ state }: BreakerRecord, { threshold }: BreakerLimits): StateView {
  if (state.kind === "closed")
    return { state: "closed", failures: state.failures, openedAt: null, probeAt: null, failedProbes: 0 };
  return {
    state: state.kind,
    failures: threshold,
    openedAt: isoTimeOrNull(state.openedAt),
    probeAt: isoTimeOrNull(state.kind === "open" ? state.probeAt : state.deadline),
    failedProbes: state.failedProbes,
  };
}

type Waiter = BreakerView["waiting"][number] & { readonly on: string };

async function waitersOf(maestro: Maestro, now: number): Promise<Waiter[]> {
  const query = { order: "created", limit: mostSessions } as const;
  const [running, parked] = await Promise.all([
    maestro.list({ ...query, statuses: ["running"], heldAt: now }),
    maestro.list({ ...query, statuses: ["parked"] }),
  ]);
  return [...running.flatMap((listing) => heldIn(listing, now)), ...parked.flatMap(parkedFor)];
}

function heldIn({ id, key, card }: Listing, now: number): Waiter[] {
  return card.held.flatMap(({ phase, persona, until, why }) =>
    why.kind === "dependency" && until > now
      ? [{ id, key: key ?? null, phase, persona, parked: false, on: why.dependency }]
      : [],
  );
}

function parkedFor({ id, key, reason, card }: Listing): Waiter[] {
  const on = card.error?.details["dependency"];
  if (reason !== "breaker" || on === undefined) return [];
  return [{ id, key: key ?? null, phase: null, persona: null, parked: true, on: String(on) }];
}
