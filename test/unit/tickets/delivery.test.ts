import { describe, expect, test } from "vitest";
import {
  newDelivery,
  onDelivered,
  onPostponed,
  onRefused,
  onUnclear,
  type PostingDelivery,
  deliveryPolicy as policy,
  settle,
  type TicketDelivery,
  take,
} from "../../../src/domain/ticket-delivery.ts";

const start = 1_000_000_000;
const hour = 3_600_000;
const year = 365 * 24 * hour;
const posting = (changed: Partial<PostingDelivery> = {}): PostingDelivery => ({
  kind: "posting",
  owner: "a",
  deadline: start + policy.deadlineMs,
  failures: 0,
  unclear: false,
  ...changed,
});
const reference = { key: "OPS-1", url: "https://jira.example/browse/OPS-1" };
const delivered = onDelivered(reference, start);

const settled = start + policy.deadlineMs + policy.settleMs;
const taken = (delivery: TicketDelivery, now: number) => take(delivery, { now, owner: "b" });

describe("taking", () => {
  test.each<[string, TicketDelivery, number, object]>([
    ["a new ticket is posted", newDelivery(start), start, { kind: "post" }],
    ["one that waits is not due", onRefused(posting(), start), start, { kind: "not-due", at: start + 5000 }],
    ["after its wait it is posted", onRefused(posting(), start), start + 5000, { kind: "post" }],
    [
      "an unclear one waits for the search",
      onUnclear(posting(), start),
      start,
      { kind: "not-due", at: start + 15_000 },
    ],
    ["and is searched for first", onUnclear(posting(), start), start + 15_000, { kind: "search-first" }],
    ["one that is being posted is left alone", posting(), settled - 1, { kind: "not-due", at: settled }],
    ["a killed one is searched for", posting(), settled, { kind: "search-first" }],
    ["a killed search is a search again", posting({ unclear: true }), settled, { kind: "search-first" }],
    ["a delivered one is done", delivered, start + year, { kind: "delivered", delivery: delivered }],
  ])("%s", (_title, delivery, now, expected) => {
    expect(taken(delivery, now)).toMatchObject(expected);
  });

  test("names the process that posts, and its deadline", () => {
    expect(taken(onRefused(posting({ failures: 3 }), start), start + hour).delivery).toEqual({
      kind: "posting",
      owner: "b",
      deadline: start + hour + policy.deadlineMs,
      failures: 4,
      unclear: false,
    });
  });
});

describe("outcomes", () => {
  test("refusals wait 5 s, doubling to 10 min", () => {
    const waits = Array.from({ length: 10 }, (_, failures) => onRefused(posting({ failures }), start).waitMs);
    expect(waits).toEqual([
      5000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 600_000, 600_000, 600_000,
    ]);
  });

  test("a delivery that is unclear once stays unclear", () => {
    const unclear = posting({ unclear: true });
    expect(onRefused(unclear, start).unclear).toBe(true);
    expect(onPostponed(unclear, start, 5000).unclear).toBe(true);
    expect(onUnclear(posting(), start).unclear).toBe(true);
    expect(onRefused(posting(), start).unclear).toBe(false);
  });

  test("a tracker's own wait counts when it is longer, up to an hour", () => {
    expect(onRefused(posting(), start, 60_000).waitMs).toBe(60_000);
    expect(onRefused(posting(), start, 1).waitMs).toBe(5000);
    expect(onUnclear(posting(), start, 60_000).waitMs).toBe(60_000);
    expect(onRefused(posting(), start, year).waitMs).toBe(hour);
  });

  test("a postponed one has not failed", () => {
    expect(onPostponed(posting({ failures: 2 }), start, 90_000)).toMatchObject({
      failures: 2,
      notBefore: start + 90_000,
    });
    expect(onPostponed(posting(), start, -year).waitMs).toBe(1000);
    expect(onPostponed(posting(), start, year).waitMs).toBe(hour);
  });
});

describe("the clock", () => {
  test("set back, makes no wait longer than planned", () => {
    const refused = onRefused(posting(), start);
    const first = taken(refused, start - year);
    expect(first).toMatchObject({ kind: "not-due", at: start - year + 5000 });
    expect(first.delivery).not.toBe(refused);
    expect(taken(first.delivery, start - year + 5000).kind).toBe("post");
  });

  test("set back during a POST, frees the ticket after one deadline, and then it is searched for", () => {
    const first = taken(posting(), start - year);
    const at = start - year + policy.deadlineMs + policy.settleMs;
    expect(first).toMatchObject({ kind: "not-due", at });
    expect(taken(first.delivery, at - 1).kind).toBe("not-due");
    expect(taken(first.delivery, at).kind).toBe("search-first");
  });

  test("set forward, makes a running POST unclear and never a plain one", () => {
    expect(taken(posting(), start + year).kind).toBe("search-first");
  });

  test("unmoved, changes no record", () => {
    for (const delivery of [onRefused(posting(), start), posting(), onUnclear(posting(), start)])
      expect(taken(delivery, start + 1).delivery).toBe(delivery);
  });
});

describe("settling", () => {
  const mine = posting();
  const theirs = posting({ owner: "b", deadline: start + hour });
  const refused = onRefused(mine, start);
  const other = onDelivered({ ...reference, key: "OPS-2" }, start);
  test.each<[string, TicketDelivery, TicketDelivery, TicketDelivery]>([
    ["stores the outcome of who has the ticket", mine, refused, refused],
    ["ignores a late failure when another process has it", theirs, refused, theirs],
    [
      "ignores a late failure of the same process's earlier try",
      posting({ deadline: start + hour }),
      refused,
      posting({ deadline: start + hour }),
    ],
    ["keeps a late delivery, which is a fact", theirs, delivered, delivered],
    ["keeps a late delivery of one that waits again", onUnclear(mine, start), delivered, delivered],
    ["keeps the first delivery", delivered, other, delivered],
    ["never takes a delivery back", delivered, refused, delivered],
  ])("%s", (_title, stored, next, expected) => {
    expect(settle(stored, mine, next)).toEqual(expected);
  });
});
