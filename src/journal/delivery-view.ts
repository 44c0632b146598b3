import { isoTime } from "../domain/iso-time.ts";
import type { Ticket } from "../domain/ticket.ts";
import type { TicketDelivery } from "../domain/ticket-delivery.ts";
import type { Delivered } from "./delivered.ts";

export interface TicketView {
  readonly fingerprint: string;
  readonly summary: string;
  readonly status: TicketDelivery["kind"];
  /** Its key in the tracker, after delivery. */
  readonly key: string | null;
  readonly url: string | null;
  /** Why it is not delivered yet. `notBefore`: the time of the next attempt. */
  readonly lastError: string | null;
  readonly notBefore: string | null;
}

export interface DeliveryView {
  readonly branch: string | null;
  readonly commits: readonly string[];
  /** The remote that the branch was pushed to. */
  readonly remote: string | null;
  readonly pullRequest: Pick<TicketView, "status" | "key" | "url" | "lastError"> | null;
  readonly patch: string | null;
  readonly applied: NonNullable<Delivered["applied"]> | null;
  /** The parts that could not be delivered. */
  readonly failures: NonNullable<Delivered["failures"]>;
}

export function describeTicket({
  ticket,
  delivery,
}: {
  readonly ticket: Ticket;
  readonly delivery: TicketDelivery;
}): TicketView {
  const { key, url } = delivery.kind === "delivered" ? delivery.reference : { key: null, url: null };
  const lastError = delivery.kind === "delivered" ? null : (delivery.lastError ?? null);
  const notBefore = delivery.kind === "pending" ? isoTime(delivery.notBefore) : null;
  const { fingerprint, summary } = ticket;
  return { fingerprint, summary, status: delivery.kind, key, url, lastError, notBefore };
}

export function describeDelivery(
  { branch, commits, remote, patch, applied, failures }: Delivered,
  pullRequest: TicketView | undefined,
): DeliveryView {
  const { status = "pending", key = null, url = null, lastError = null } = pullRequest ?? {};
  return {
    branch: branch ?? null,
    commits: commits ?? [],
    remote: remote ?? null,
    pullRequest: pullRequest === undefined ? null : { status, key, url, lastError },
    patch: patch ?? null,
    applied: applied ?? null,
    failures: failures ?? [],
  };
}
