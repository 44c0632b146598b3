import { describe, expect, test } from "vitest";
import { deliveryPolicy, onDelivered, onRefused } from "../../src/domain/ticket-delivery.ts";
import type { DueTicket } from "../../src/store/ticket-store.ts";
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

    test("is taken by one of several concurrent callers, and searched for first after that one was lost", async () => {
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

    test("is settled by its taker; a late failure of an earlier taker changes nothing, a late delivery counts", async () => {
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

    test("is due when it would have been, though the clock is set back in between", async () => {
      const { store, clock } = await openFor(open);
      const [hourMs, minuteMs] = [3_600_000, 60_000];
      const take = () => store.tickets.takeDue(clock.now(), "owner");
      await store.tickets.raise(sampleTicket());
      clock.jump(-hourMs);
      const { ticket, delivery } = (await take()) as DueTicket;
      await store.tickets.settle(ticket.id, onRefused(delivery, clock.now(), minuteMs), delivery);
      clock.jump(-hourMs);
      expect(await take(), "it waits as long as it was told to").toBeUndefined();
      await clock.advance(minuteMs - 1);
      expect(await take()).toBeUndefined();
      await clock.advance(1);
      expect(await take()).toMatchObject({ searchFirst: false });
      // Its process is lost, and the clock is set back once more.
      clock.jump(-hourMs);
      expect(await take()).toBeUndefined();
      await clock.advance(deliveryPolicy.deadlineMs + deliveryPolicy.settleMs);
      expect(await take()).toMatchObject({ searchFirst: true });
    });

    test("can be forgotten only after its delivery", async () => {
      const { store, clock } = await openFor(open);
      const ticket = sampleTicket();
      await store.tickets.raise(ticket);
      const forget = async () => {
        await store.tickets.forget([ticket.id]);
        return (await store.tickets.list()).length;
      };
      const delivered = () => store.tickets.listDelivered({ after: "", limit: 10 });
      expect([await forget(), await delivered()]).toEqual([1, []]);
      const { delivery } = (await store.tickets.takeDue(clock.now(), "owner")) as DueTicket;
      expect([await forget(), await delivered()]).toEqual([1, []]);
      await store.tickets.settle(ticket.id, onDelivered(reference, clock.now()), delivery);
      expect(await delivered()).toMatchObject([{ ticket: { id: ticket.id } }]);
      expect(await store.tickets.listDelivered({ after: ticket.id, limit: 10 })).toEqual([]);
      expect(await forget()).toBe(0);
    });
  });
}
