import { isSimulated, simulatedName } from "../../domain/simulated.ts";

/** A provider's limits per minute, over all sessions and processes. */
export interface RateLimits {
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
}

/** Keyed by provider: "anthropic" for the model "anthropic/claude-sonnet-4-5". */
export type ProviderRates = Readonly<Record<string, RateLimits>>;

/** The limits of the provider that a call goes to. */
export interface Rate extends RateLimits {
  readonly provider: string;
}

/** A call to the provider by any caller. An open call counts with the tokens it asked for. */
export interface RecentCall {
  readonly at: number;
  /** Null while it is open. */
  readonly endedAt: number | null;
  readonly tokens: number;
}

export type RateUnit = "requests" | "tokens";

/**
 * `until`: when enough calls will have left the minute. The wait may end earlier if an open call uses fewer tokens
 * than it asked for.
 */
export type RateDecision =
  | { readonly kind: "granted" }
  | {
      readonly kind: "later";
      readonly provider: string;
      readonly unit: RateUnit;
      readonly limit: number;
      readonly until: number;
    };

const minuteMs = 60_000;
/**
 * A provider counts a request when it arrives, which is after its reservation and before its end. A request takes
 * at most this long to be sent and arrive.
 */
const arrivalMs = 5_000;

/** Calls that were reserved earlier no longer count. */
export const rateWindowMs = minuteMs + arrivalMs;

/** The provider of a model; undefined for an agent, whose requests are unknown. */
function providerOf(model: string): string | undefined {
  if (isSimulated(model)) return simulatedName;
  const slash = model.indexOf("/");
  return slash > 0 ? model.slice(0, slash) : undefined;
}

/** Takes the smaller of each limit. */
export function rateOf(model: string, ...tables: readonly (ProviderRates | undefined)[]): Rate | undefined {
  const provider = providerOf(model);
  if (provider === undefined) return undefined;
  const found = tables.flatMap((table) =>
    table !== undefined && Object.hasOwn(table, provider) ? (table[provider] ?? []) : [],
  );
  const least = (limits: readonly (number | undefined)[]): number | undefined => {
    const known = limits.filter((limit) => limit !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
  };
  const requestsPerMinute = least(found.map((rate) => rate.requestsPerMinute));
  const tokensPerMinute = least(found.map((rate) => rate.tokensPerMinute));
  if (requestsPerMinute === undefined && tokensPerMinute === undefined) return undefined;
  return {
    provider,
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute }),
  };
}

/**
 * Admits a call unless it would exceed a limit within some minute. Otherwise the call waits, never fails: a call
 * that asks for more tokens than a minute allows is made alone.
 */
export function decideRate(
  { provider, requestsPerMinute, tokensPerMinute }: Rate,
  calls: readonly RecentCall[],
  tokens: number,
  now: number,
): RateDecision {
  // A reservation from the future was made before the clock was set back.
  const counted = calls
    .filter(({ at }) => at <= now + rateWindowMs)
    .map((call) => ({ leaves: leavesAt(call), tokens: call.tokens }))
    .filter(({ leaves }) => leaves > now)
    .toSorted((one, other) => one.leaves - other.leaves);
  const waits: Extract<RateDecision, { kind: "later" }>[] = [];
  if (requestsPerMinute !== undefined && counted.length >= requestsPerMinute) {
    const until = counted[counted.length - requestsPerMinute]?.leaves ?? now;
    waits.push({ kind: "later", provider, unit: "requests", limit: requestsPerMinute, until });
  }
  if (tokensPerMinute !== undefined) {
    let left = counted.reduce((sum, call) => sum + call.tokens, 0);
    let until: number | undefined;
    for (const call of counted) {
      if (left + tokens <= tokensPerMinute) break;
      left -= call.tokens;
      until = call.leaves;
    }
    if (until !== undefined)
      waits.push({ kind: "later", provider, unit: "tokens", limit: tokensPerMinute, until });
  }
  return waits.toSorted((one, other) => other.until - one.until)[0] ?? { kind: "granted" };
}

const leavesAt = ({ at, endedAt }: RecentCall): number =>
  Math.min(Math.max(at, endedAt ?? Number.POSITIVE_INFINITY), at + arrivalMs) + minuteMs;
