import { afterEach, beforeEach, expect, test } from "vitest";
import { CircuitOpen } from "../../../src/domain/errors.ts";
import type { Guard } from "../../../src/tickets/outbox.ts";
import { TicketRefused, type TicketSink } from "../../../src/tickets/ticket-sink.ts";
import { createPath } from "../../support/loopback-jira.ts";
import { DeliveryPlace } from "./delivery-place.ts";

let place: DeliveryPlace;
beforeEach(async () => {
  place = await DeliveryPlace.open();
});
afterEach(() => place.close());

test("everything due is delivered, without a search, and nothing is left to do", async () => {
  const [first] = [place.add(0), place.add(1), place.add(2)];
  expect(await place.outbox().deliverDue()).toBe(3);
  expect(place.asked()).toEqual(["post", "post", "post"]);
  expect(place.queue.deliveryOf(first)).toMatchObject({ kind: "delivered", reference: { key: "OPS-1" } });
  expect(place.reports.map(({ sink, delivery }) => `${sink} ${delivery.kind}`)).toEqual([
    "jira:OPS delivered",
    "jira:OPS delivered",
    "jira:OPS delivered",
  ]);
  expect(await place.outbox().deliverDue()).toBe(0);
  expect(await place.queue.nextDueAt()).toBeUndefined();
});

test("a refusal waits 5 s, then 10 s, is reported, and does not stop the others", async () => {
  const [refused, fine] = [place.add(0), place.add(1)];
  place.jira.switches.script[createPath] = ["cut-refusal", "answer", "cut-refusal"];
  expect(await place.outbox().deliverDue()).toBe(1);
  expect(place.queue.deliveryOf(fine).kind).toBe("delivered");
  const { clock, queue, reports } = place;
  expect(queue.deliveryOf(refused)).toMatchObject({
    failures: 1,
    notBefore: clock.now() + 5000,
    unclear: false,
  });
  expect(reports[0]?.error).toBeInstanceOf(TicketRefused);
  await clock.advance(5000);
  expect(await place.outbox().deliverDue()).toBe(0);
  expect(queue.deliveryOf(refused)).toMatchObject({ failures: 2, notBefore: clock.now() + 10_000 });
});

test("a rate limit waits as long as it says and is no failure", async () => {
  const ticket = place.add();
  place.jira.switches.script[createPath] = ["rate-limit"];
  place.jira.switches.retryAfter = "90";
  await place.outbox().deliverDue();
  expect(place.queue.deliveryOf(ticket)).toMatchObject({ failures: 0, unclear: false, waitMs: 90_000 });
});

test("an open breaker postpones every ticket to when it may be tried, without asking the tracker", async () => {
  const tickets = [place.add(0), place.add(1)];
  const retryAt = place.clock.now() + 120_000;
  const asked: string[] = [];
  const guard: Guard = (dependency) => {
    asked.push(dependency);
    return Promise.reject(new CircuitOpen("jira:OPS is not asked", { details: { retryAt } }));
  };
  expect(await place.outbox({ guard }).deliverDue()).toBe(0);
  expect(asked).toEqual(["jira:OPS", "jira:OPS"]);
  for (const ticket of tickets)
    expect(place.queue.deliveryOf(ticket)).toMatchObject({ failures: 0, unclear: false, notBefore: retryAt });
  expect(place.jira.server.requests).toEqual([]);
});

test("the breaker sees each call's own error", async () => {
  place.add();
  place.jira.switches.script[createPath] = ["server-error"];
  const faults: unknown[] = [];
  const guard: Guard = (_dependency, call) =>
    call().catch((error: unknown) => {
      faults.push((error as { fault?: unknown }).fault);
      throw error;
    });
  await place.outbox({ guard }).deliverDue();
  expect(faults).toEqual(["outage"]);
});

test("a bug in a sink is reported, rescheduled and taken for unclear", async () => {
  const ticket = place.add();
  const broken: TicketSink = {
    name: "broken",
    find: () => Promise.reject(new TypeError("x is undefined")),
    post: () => {
      throw new TypeError("y is undefined");
    },
  };
  expect(await place.outbox({ sink: broken }).deliverDue()).toBe(0);
  expect(place.queue.deliveryOf(ticket)).toMatchObject({ kind: "pending", failures: 1, unclear: true });
  expect(place.reports[0]?.error).toBeInstanceOf(TypeError);
});

test("a database that fails is not hidden", async () => {
  place.queue.takeDue = () => Promise.reject(new Error("disk full"));
  await expect(place.outbox().deliverDue()).rejects.toThrow("disk full");
});

test("when told to stop it takes no further ticket, and the one under way is unclear", async () => {
  const [first, second] = [place.add(0), place.add(1)];
  place.jira.switches.script[createPath] = ["slow"];
  const stop = new AbortController();
  const delivering = place.outbox().deliverDue(stop.signal);
  await expect.poll(() => place.jira.server.requests.length, { interval: 5 }).toBe(1);
  stop.abort();
  expect(await delivering).toBe(0);
  expect(place.queue.deliveryOf(first)).toMatchObject({ kind: "pending", unclear: true });
  expect(place.queue.deliveryOf(second)).toMatchObject({ kind: "pending", unclear: false, failures: 0 });
});

test("why it is not delivered stays on record until it is, without the credentials", async () => {
  const ticket = place.add();
  place.jira.switches.script[createPath] = ["cut-refusal"];
  await place.outbox().deliverDue();
  const { clock, queue } = place;
  const why = "Jira refused the request with status 400";
  expect(queue.deliveryOf(ticket)).toMatchObject({
    kind: "pending",
    lastError: expect.stringContaining(why),
  });
  await clock.advance(5000);
  expect(await queue.takeDue(clock.now(), "b")).toMatchObject({
    delivery: { kind: "posting", lastError: expect.stringContaining(why) },
  });
});

test("a ticket that the tracker refuses is written to a file; one that may still be delivered is not", async () => {
  const kept: string[] = [];
  const shelf = {
    post: async ({ summary }: { readonly summary: string }) => {
      kept.push(summary);
      return { key: "here", url: "file:///here.md" };
    },
  };
  const [refused, down] = [place.add(0), place.add(1)];
  place.jira.switches.script[createPath] = ["cut-refusal", "server-error"];
  await place.outbox({ shelf }).deliverDue();
  expect(kept).toEqual([refused.summary]);
  expect(place.queue.deliveryOf(refused)).toMatchObject({
    lastError: expect.stringContaining("Meanwhile it is here: file:///here.md"),
  });
  expect(place.queue.deliveryOf(down)).toMatchObject({ lastError: expect.not.stringContaining("Meanwhile") });
});
