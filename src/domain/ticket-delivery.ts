import { isJsonObject, type Json } from "./json.ts";
import { remainingWaitMs, roundDelayMs } from "./retry-policy.ts";
import { damagedTicket as damaged, type TicketReference, textAt, wholeNumberAt } from "./ticket.ts";

/**
 * `unclear`: a POST without an answer may have created the ticket. Once set it stays: an unclear ticket is searched
 * for before every further POST.
 */
export type PendingDelivery = {
  readonly kind: "pending";
  readonly notBefore: number;
  readonly waitMs: number;
  readonly failures: number;
  readonly unclear: boolean;
  /** Why the last attempt failed, for people. */
  readonly lastError?: string;
};

export type PostingDelivery = {
  readonly kind: "posting";
  readonly owner: string;
  readonly deadline: number;
  readonly failures: number;
  readonly unclear: boolean;
  /** Why the last attempt failed, for people. */
  readonly lastError?: string;
};

export type TicketDelivery =
  | PendingDelivery
  | PostingDelivery
  | { readonly kind: "delivered"; readonly reference: TicketReference; readonly at: number };

export interface DeliveryPolicy {
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  /** The longest time of one delivery. Afterwards its process counts as killed. */
  readonly deadlineMs: number;
  /** A tracker's search lags its writes by this much. */
  readonly settleMs: number;
}

export const deliveryPolicy: DeliveryPolicy = {
  baseDelayMs: 5000,
  maxDelayMs: 600_000,
  deadlineMs: 60_000,
  settleMs: 15_000,
};

/** Save the delivery whenever it is a different object, even if it is not due: see the breaker's admission. */
export type Take =
  | { readonly kind: "post" | "search-first"; readonly delivery: PostingDelivery }
  | { readonly kind: "not-due"; readonly at: number; readonly delivery: PendingDelivery | PostingDelivery }
  | { readonly kind: "delivered"; readonly delivery: TicketDelivery };

export interface TakeContext {
  readonly now: number;
  readonly owner: string;
  readonly policy?: DeliveryPolicy;
}

/** For trackers that name a time in the past. */
const leastPostponedMs = 1000;
/** A longer wait is requested again when this one is over. */
const mostWaitMs = 3_600_000;

export const newDelivery = (now: number): PendingDelivery => ({
  kind: "pending",
  notBefore: now,
  waitMs: 0,
  failures: 0,
  unclear: false,
});

export function take(given: TicketDelivery, { now, owner, policy = deliveryPolicy }: TakeContext): Take {
  if (given.kind === "delivered") return { kind: "delivered", delivery: given };
  const delivery = clampTimes(given, now, policy);
  // A posting whose deadline has passed lost its process. A ticket that it may have sent must first appear in the
  // search.
  const at = delivery.kind === "pending" ? delivery.notBefore : delivery.deadline + policy.settleMs;
  if (now < at) return { kind: "not-due", at, delivery };
  const unclear = delivery.unclear || delivery.kind === "posting";
  const posting: PostingDelivery = {
    kind: "posting",
    owner,
    deadline: now + policy.deadlineMs,
    failures: delivery.failures,
    unclear,
    ...(delivery.lastError !== undefined && { lastError: delivery.lastError }),
  };
  return { kind: unclear ? "search-first" : "post", delivery: posting };
}

export const onDelivered = (reference: TicketReference, now: number): TicketDelivery => ({
  kind: "delivered",
  reference: { key: reference.key, url: reference.url },
  at: now,
});

/** A clear answer: this call created nothing. */
export function onRefused(
  taken: PostingDelivery,
  now: number,
  retryAfterMs = 0,
  policy: DeliveryPolicy = deliveryPolicy,
): PendingDelivery {
  const failures = taken.failures + 1;
  const backoffMs = roundDelayMs({ maxAttempts: 0, ...policy }, failures);
  return pending(Math.max(backoffMs, retryAfterMs), now, failures, taken.unclear);
}

/** No answer, or an incomplete or unreadable one: the ticket may have been created. */
export function onUnclear(
  taken: PostingDelivery,
  now: number,
  retryAfterMs = 0,
  policy: DeliveryPolicy = deliveryPolicy,
): PendingDelivery {
  const refused = onRefused(taken, now, Math.max(retryAfterMs, policy.settleMs), policy);
  return { ...refused, unclear: true };
}

/** An open breaker or a rate limit gives a time. It is not a failure. */
export const onPostponed = (taken: PostingDelivery, now: number, waitMs: number): PendingDelivery =>
  pending(Math.max(waitMs, leastPostponedMs), now, taken.failures, taken.unclear);

/**
 * The delivery after the outcome of a call. If another process has claimed the ticket meanwhile, a late failure
 * changes nothing, but a late delivery is a fact. The first delivery stays.
 */
export function settle(stored: TicketDelivery, taken: PostingDelivery, next: TicketDelivery): TicketDelivery {
  if (stored.kind === "delivered") return stored;
  if (next.kind === "delivered") return next;
  const mine = stored.kind === "posting" && stored.owner === taken.owner;
  return mine && stored.deadline === taken.deadline ? next : stored;
}

function pending(waitMs: number, now: number, failures: number, unclear: boolean): PendingDelivery {
  const boundedMs = Math.ceil(Math.min(Math.max(waitMs, 1), mostWaitMs));
  return { kind: "pending", notBefore: now + boundedMs, waitMs: boundedMs, failures, unclear };
}

/** No time may be further ahead than it could have been set, because the clock may have been set back since. */
function clampTimes<Waiting extends PendingDelivery | PostingDelivery>(
  delivery: Waiting,
  now: number,
  policy: DeliveryPolicy,
): Waiting {
  if (delivery.kind === "posting") {
    const latest = now + policy.deadlineMs;
    return delivery.deadline <= latest ? delivery : { ...delivery, deadline: latest };
  }
  const notBefore = now + remainingWaitMs(delivery, now);
  return delivery.notBefore <= notBefore ? delivery : { ...delivery, notBefore };
}

/** Restored state is checked, never cast. */
export function parseDelivery(json: Json): TicketDelivery {
  if (!isJsonObject(json)) throw damaged("it is not an object", json);
  if (json.kind === "delivered") {
    const { reference } = json;
    if (!isJsonObject(reference)) throw damaged("it has no reference", json);
    const [key, url] = [textAt(reference, "key", 1), textAt(reference, "url", 1)];
    return { kind: "delivered", reference: { key, url }, at: wholeNumberAt(json, "at") };
  }
  if (json.kind !== "pending" && json.kind !== "posting") throw damaged("its kind is not known", json);
  const { unclear } = json;
  if (typeof unclear !== "boolean") throw damaged("unclear is neither true nor false", json);
  const failures = wholeNumberAt(json, "failures");
  const said = json.lastError === undefined ? {} : { lastError: textAt(json, "lastError") };
  if (json.kind === "posting") {
    const [owner, deadline] = [textAt(json, "owner", 1), wholeNumberAt(json, "deadline")];
    return { kind: "posting", owner, deadline, failures, unclear, ...said };
  }
  const [notBefore, waitMs] = [wholeNumberAt(json, "notBefore"), wholeNumberAt(json, "waitMs")];
  return { kind: "pending", notBefore, waitMs, failures, unclear, ...said };
}
