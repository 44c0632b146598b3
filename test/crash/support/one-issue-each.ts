import { expect } from "vitest";
import { orElse } from "../../campaign/campaign.ts";
import type { Ended } from "./program.ts";
import type { TicketPlace } from "./ticket-place.ts";

/** Restarts the delivery without kills until every ticket is delivered; the tracker works. */
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

/** The tracker has exactly one ticket for every problem, and the outbox knows which one. */
export function expectOneIssueEach(place: TicketPlace): void {
  const deliveries = [...place.deliveries()];
  const known = deliveries.map(([fingerprint, delivery]) => [
    fingerprint,
    delivery.kind === "delivered" ? [delivery.reference.key] : [],
  ]);
  const found = deliveries.map(([fingerprint]) => [fingerprint, place.tracker.withLabel(fingerprint)]);
  const missing = found.filter(([, keys]) => keys?.length === 0);
  orElse("lost", () => expect(missing, "problems without a ticket").toEqual([]));
  orElse("repeated", () => {
    expect(found).toEqual(known);
    expect(place.tracker.size).toBe(deliveries.length);
  });
}
