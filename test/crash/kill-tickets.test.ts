import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { deliveryPolicy } from "../../src/domain/ticket-delivery.ts";
import { killDeliveries, trackers } from "../campaign/tickets.ts";
import { createPath, searchPath } from "../support/loopback-jira.ts";
import { expectOneIssueEach } from "./support/one-issue-each.ts";
import { TicketPlace } from "./support/ticket-place.ts";
import type { JiraTracker } from "./support/trackers.ts";

const { deadlineMs, settleMs } = deliveryPolicy;

describe("processes that are killed between a POST and its record", () => {
  it("leave exactly one Jira issue for every problem", async () => {
    const killed = await Promise.all([1, 2].map((seed) => killDeliveries("Jira", seed, 16)));
    const kinds = new Set(killed.flat());
    expect(kinds.size, `kinds of kills: ${[...kinds].join(", ")}`).toBeGreaterThan(4);
  });

  it("leave exactly one GitHub issue for every problem", async () => {
    expect((await killDeliveries("GitHub", 3, 10)).length).toBeGreaterThanOrEqual(10);
  });

  it("send a webhook each problem under an idempotency key by which it can drop duplicates", async () => {
    expect((await killDeliveries("webhook", 4, 10)).length).toBeGreaterThanOrEqual(10);
  });
});

describe("after a kill Maestro waits for Jira's search index before it searches", () => {
  let place: TicketPlace<JiraTracker>;
  beforeEach(async () => {
    place = await new TicketPlace(trackers.Jira).listen();
    await place.raise(1);
  });
  afterEach(() => place.remove());

  it("a POST that Jira processed at its sender's deadline is found and not repeated", async () => {
    const kill = { at: "arrival", request: "create", nth: 1, fate: "done late" } as const;
    const takenAt = place.now();
    expect(await place.deliver({}, kill)).toMatchObject({ betweenPostAndRecord: true });
    await expectSilenceUntil(takenAt + deadlineMs + settleMs);
  });

  it("a POST whose answer was lost is found and not repeated", async () => {
    expect((await place.deliver({ [createPath]: ["drop-after"] })).ended).toMatchObject({ code: 0 });
    await expectSilenceUntil(place.now() + settleMs);
  });

  async function expectSilenceUntil(dueAt: number): Promise<void> {
    const asked = () => place.tracker.server.requests.map(({ path }) => path);
    for (const beforeMs of [10_000, 3_000]) {
      place.aheadMs += dueAt - beforeMs - place.now();
      await place.deliver({});
      expect(asked()).toEqual([createPath]);
    }
    place.aheadMs += dueAt + 2_000 - place.now();
    await place.deliver({});
    expect(asked()).toEqual([createPath, searchPath]);
    expectOneIssueEach(place);
  }
});
