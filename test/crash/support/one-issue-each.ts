import { expect } from "vitest";
import type { Ended } from "./program.ts";
import type { TicketPlace } from "./ticket-place.ts";

/** Restarted, and not killed any more, until nothing is left to do; the tracker has a good day. */
export async function deliverAll(place: TicketPlace): Promise<void> {
  for (let life = 1; !place.isAllDelivered(); life += 1) {
    expect(life, "lives that did not deliver everything").toBeLessThan(12);
    place.aheadMs += 900_000;
    expectCleanEnd((await place.deliver({})).ended);
  }
}

export function expectCleanEnd(ended: Ended): void {
  expect(ended, `stderr: ${ended.stderr}`).toMatchObject({ code: 0, signal: null });
}

/** Of every problem exactly one, and the outbox knows which. */
export function expectOneIssueEach(place: TicketPlace): void {
  const deliveries = [...place.deliveries()];
  const known = deliveries.map(([fingerprint, delivery]) => [
    fingerprint,
    delivery.kind === "delivered" ? [delivery.reference.key] : [],
  ]);
  const found = deliveries.map(([fingerprint]) => [fingerprint, place.tracker.withLabel(fingerprint)]);
  expect(found).toEqual(known);
  expect(place.tracker.size).toBe(deliveries.length);
}
