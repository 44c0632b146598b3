import { afterEach, beforeEach, expect, test } from "vitest";
import { deliveryPolicy } from "../../../src/domain/ticket-delivery.ts";
import { createPath, searchPath } from "../../support/loopback-jira.ts";
import type { Behavior } from "../../support/loopback-server.ts";
import { DeliveryPlace } from "./delivery-place.ts";
import { patience } from "./sample-ticket.ts";

let place: DeliveryPlace;
beforeEach(async () => {
  place = await DeliveryPlace.open();
});
afterEach(() => place.close());

test("a process killed between POST and record leaves one issue: the next one waits, searches and finds it", async () => {
  const ticket = place.add();
  await place.queue.takeDue(place.clock.now(), "killed");
  await place.sink().post(ticket, patience);
  expect(await place.outbox().deliverDue()).toBe(0);
  const { deadlineMs, settleMs } = deliveryPolicy;
  expect(await place.queue.nextDueAt()).toBe(place.clock.now() + deadlineMs + settleMs);
  await place.deliverUntilDone();
  expect(place.asked()).toEqual(["post", "search"]);
  expect(place.jira.issues).toHaveLength(1);
  expect(place.queue.deliveryOf(ticket)).toMatchObject({ kind: "delivered", reference: { key: "OPS-1" } });
});

test("a process killed before its POST leaves none: the next one searches, finds nothing and posts", async () => {
  place.add();
  await place.queue.takeDue(place.clock.now(), "killed");
  await place.deliverUntilDone();
  expect(place.asked()).toEqual(["search", "post"]);
  expect(place.jira.issues).toHaveLength(1);
});

test.each<Behavior>(["drop-after", "cut-answer", "gateway-error-after", "slow", "huge"])(
  "an issue whose answer was lost (%s) is found and not posted again",
  async (behavior) => {
    place.add();
    place.jira.switches.script[createPath] = [behavior];
    await place.deliverUntilDone(behavior === "slow" ? place.sink(200) : undefined);
    expect(place.asked()).toEqual(["post", "search"]);
    expect(place.jira.issues).toHaveLength(1);
  },
);

test("whatever Jira does, every problem ends up as one issue", async () => {
  const tickets = Array.from({ length: 12 }, (_, number) => place.add(number));
  const { switches } = place.jira;
  switches.repeat = true;
  const once: Behavior[] = [
    "drop-after",
    "rate-limit",
    "cut-answer",
    "server-error",
    "answer",
    "drop-before",
  ];
  switches.script = {
    [createPath]: [...once, "gateway-error-after"],
    [searchPath]: ["drop-before", "answer", "server-error", "rate-limit", "answer", "cut-answer", "redirect"],
  };
  await place.deliverUntilDone();
  for (const { fingerprint } of tickets) expect(place.jira.withLabel(fingerprint)).toHaveLength(1);
});

test("as long as the search fails an unclear ticket is not posted", async () => {
  const ticket = place.add();
  place.jira.switches.script = {
    [createPath]: ["drop-after"],
    [searchPath]: ["server-error", "drop-before", "redirect"],
  };
  await place.deliverUntilDone();
  expect(place.asked()).toEqual(["post", "search", "search", "search", "search"]);
  expect(place.jira.withLabel(ticket.fingerprint)).toHaveLength(1);
});

test("a search that lags longer than we wait can cost a second issue, as the guarantees say", async () => {
  place.add();
  place.jira.switches.script[createPath] = ["drop-after"];
  place.jira.switches.searchLagMs = 3_600_000;
  await place.deliverUntilDone();
  expect(place.jira.issues).toHaveLength(2);
});

test("two processes deliver every ticket once", async () => {
  for (let number = 0; number < 6; number += 1) place.add(number);
  const counts = await Promise.all(["a", "b"].map((owner) => place.outbox({ owner }).deliverDue()));
  expect(counts.reduce((sum, count) => sum + count)).toBe(6);
  expect(place.jira.issues).toHaveLength(6);
});

test("a process that slept through its deadline does not post", async () => {
  place.add();
  const sleepy = <T>(_dependency: string, call: () => Promise<T>): Promise<T> => {
    place.clock.jump(deliveryPolicy.deadlineMs);
    return call();
  };
  expect(await place.outbox({ guard: sleepy }).deliverDue()).toBe(0);
  expect(place.jira.server.requests).toEqual([]);
});
