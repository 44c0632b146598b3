import { describe, expect, test } from "vitest";
import { deliveryPolicy, onDelivered, onRefused } from "../../src/domain/ticket-delivery.ts";
import type { DueTicket } from "../../src/state/ticket-store.ts";
import { sampleTicket } from "../unit/tickets/sample-ticket.ts";
import { type OpenStore, openFor } from "./store-under-test.ts";

const reference = { key: "T-1", url: "https://tracker.example/T-1" };

export function ticketsContract(open: OpenStore): void {
  describe("a ticket", () => {
    test("is raised once per problem", async () => {
      const { store } = await openFor(open);
      const ticket = sampleTicket();
      await store.tickets.raise(ticket);
      await store.tickets.raise({ ...ticket, id: `${ticket.id}2` });
      expect((await store.tickets.list()).map((raised) => raised.ticket.id)).toEqual([ticket.id]);
      expect((await store.tickets.find(ticket.fingerprint))?.delivery.kind).toBe("pending");
    });

    test("is taken by one of those who ask at the same moment, and searched for when that one was lost", async () => {
      const { store, another, clock } = await openFor(open);
      const other = (await another?.()) ?? store;
      await store.tickets.raise(sampleTicket());
      const taken = await Promise.all(
        [store, other, store].map(({ tickets }, index) => tickets.takeDue(clock.now(), `owner ${index}`)),
      );
      expect(taken.filter((due) => due !== undefined)).toHaveLength(1);
      await clock.advance(deliveryPolicy.deadlineMs + deliveryPolicy.settleMs);
      expect(await store.tickets.takeDue(clock.now(), "next")).toMatchObject({ searchFirst: true });
    });

    test("is settled by whoever has it; a late failure of another changes nothing, a late delivery is a fact", async () => {
      const { store, clock } = await openFor(open);
      const ticket = sampleTicket();
      await store.tickets.raise(ticket);
      const take = async (owner: string) => (await store.tickets.takeDue(clock.now(), owner)) as DueTicket;
      const first = await take("first");
      await clock.advance(deliveryPolicy.deadlineMs + deliveryPolicy.settleMs);
      const second = await take("second");
      await store.tickets.settle(ticket.id, onRefused(first.delivery, clock.now()), first.delivery);
      expect((await store.tickets.find(ticket.fingerprint))?.delivery).toEqual(second.delivery);
      await store.tickets.settle(ticket.id, onDelivered(reference, clock.now()), first.delivery);
      await store.tickets.settle(ticket.id, onRefused(second.delivery, clock.now()), second.delivery);
      expect((await store.tickets.find(ticket.fingerprint))?.delivery).toMatchObject({
        kind: "delivered",
        reference,
      });
      expect(await store.tickets.nextDueAt()).toBeUndefined();
    });
  });
}
