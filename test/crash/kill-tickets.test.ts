import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { deliveryPolicy } from "../../src/domain/ticket-delivery.ts";
import { issuesPath } from "../support/loopback-github.ts";
import { createPath, searchPath } from "../support/loopback-jira.ts";
import type { Behavior } from "../support/loopback-server.ts";
import { hookPath } from "../support/loopback-webhook.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { deliverAll, expectCleanEnd, expectOneIssueEach } from "./support/one-issue-each.ts";
import { type Kill, TicketPlace } from "./support/ticket-place.ts";
import { GithubTracker, JiraTracker, type Tracker, WebhookTracker } from "./support/trackers.ts";

const { deadlineMs, settleMs } = deliveryPolicy;
const seed = Number(process.env["TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 32));

/** A tracker on a bad day: slow, at its limit, failing before and after it did what it was asked, hanging up half-way. */
const moods: readonly Behavior[] = [
  "slow",
  "rate-limit",
  "server-error",
  "gateway-error-after",
  "cut-answer",
  "drop-after",
  "drop-before",
];
/** Too early for a ticket under way, between its deadline and the search, and late enough. */
const pausesMs = [0, 6_000, 9_000, 12_000, 20_000, 61_000, 70_000, 80_000];
const problemEveryMs = 50_000;

type Track = (now: () => number) => Tracker;

const jira = (now: () => number) => new JiraTracker(now);
const github: Track = (now) => new GithubTracker(now);
const webhook: Track = () => new WebhookTracker();

it(`200 kills between POST and record: every problem ends up as exactly one Jira issue (TEST_SEED=${seed})`, async () => {
  const all = await killAndDeliver(jira, 200, 4);
  expect(all.filter(isBetween)).toHaveLength(200);
  const kinds = new Set(
    all.map(({ kill }) => (kill.at === "fault" ? kill.point : `${kill.at} ${kill.request}`)),
  );
  expect(kinds.size, `none is missing: ${[...kinds].join(", ")}`).toBe(9);
});

it.each<[string, Track]>([
  ["GitHub has exactly one issue for every problem", github],
  ["a webhook gets every problem, under a key that tells it what it has had", webhook],
])(`30 kills between POST and record: %s (TEST_SEED=${seed})`, async (_, track) => {
  const all = await killAndDeliver(track, 30, 2);
  expect(all.filter(isBetween)).toHaveLength(30);
});

describe("whoever comes after a kill waits until the search must have caught up", () => {
  let place: TicketPlace<JiraTracker>;
  beforeEach(async () => {
    place = await new TicketPlace(jira).listen();
    await place.raise(1);
  });
  afterEach(() => place.remove());

  it("a POST that lay in Jira's queue until its sender's deadline is found", async () => {
    const kill = { at: "arrival", request: "create", nth: 1, fate: "done late" } as const;
    const takenAt = place.now();
    expect(await place.deliver({}, kill)).toMatchObject({ betweenPostAndRecord: true });
    await expectSilenceUntil(takenAt + deadlineMs + settleMs);
  });

  it("a POST that Jira did and whose answer was lost is found", async () => {
    expect((await place.deliver({ [createPath]: ["drop-after"] })).ended).toMatchObject({ code: 0 });
    await expectSilenceUntil(place.now() + settleMs);
  });

  /** Until then nobody asks Jira anything; afterwards the issue is found and not posted again. */
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

interface Killed {
  readonly kill: Kill;
  readonly betweenPostAndRecord: boolean;
}

/** With a POST under way, or done, that no record knows. */
const isBetween = ({ betweenPostAndRecord }: Killed): boolean => betweenPostAndRecord;

/** So many killed between POST and record, in so many places at once; all that were killed. */
async function killAndDeliver(track: Track, kills: number, places: number): Promise<readonly Killed[]> {
  const killed = await Promise.all(
    Array.from({ length: places }, (_, index) =>
      killAtOnePlace(track, seededRandom(seed + index), kills / places),
    ),
  );
  return killed.flat();
}

/** Until so many were killed between POST and record; others are killed elsewhere on the way. */
async function killAtOnePlace(
  track: Track,
  random: () => number,
  wanted: number,
): Promise<readonly Killed[]> {
  const place = await new TicketPlace(track).listen();
  const killed: Killed[] = [];
  let kill: Kill | undefined;
  try {
    await place.raise(1);
    await deliverAll(place);
    let raisedUntil = 0;
    for (let life = 1; killed.filter(isBetween).length < wanted; life += 1) {
      expect(life, "lives for so few kills").toBeLessThan(6 * wanted);
      if (place.now() >= raisedUntil) {
        raisedUntil = place.now() + 10 * problemEveryMs;
        await place.raise(10, problemEveryMs);
      }
      kill = planKill(random);
      const script = Object.fromEntries(
        [createPath, searchPath, issuesPath, hookPath].map((path) => [path, planMoods(random)]),
      );
      const { ended, betweenPostAndRecord, idle, again } = await place.deliver(script, kill);
      expect(again).toEqual([]);
      if (ended.signal === null) expectCleanEnd(ended);
      else killed.push({ kill, betweenPostAndRecord });
      // Idle: nothing was due, or the breaker keeps everybody from calling the tracker.
      place.aheadMs += idle ? 90_000 : pick(random, pausesMs);
    }
    await deliverAll(place);
    expectOneIssueEach(place);
    return killed;
  } catch (error) {
    const last = `kill ${killed.length} of TEST_SEED=${seed}: ${JSON.stringify(kill)}`;
    throw new Error(last, { cause: error });
  } finally {
    await place.remove();
  }
}

/** Most of them where it hurts: the tracker has the request, the outbox does not know. */
function planKill(random: () => number): Kill {
  const nth = random() < 0.7 ? 1 : 2;
  const roll = random();
  if (roll < 0.4)
    return {
      at: "arrival",
      request: "create",
      nth,
      fate: pick(random, ["done", "done", "done late", "lost"]),
    };
  if (roll < 0.65) return { at: "answer", request: "create", nth, afterMs: random() * 6 };
  if (roll < 0.8) return { at: "fault", point: "ticket.settled:before-commit", nth };
  if (roll < 0.84) return { at: "fault", point: "breaker.recorded:before-commit", nth };
  if (roll < 0.88) return { at: "fault", point: "breaker.recorded:after-commit", nth };
  if (roll < 0.91) return { at: "fault", point: "ticket.taken:after-commit", nth };
  if (roll < 0.94) return { at: "fault", point: "ticket.settled:after-commit", nth };
  if (roll < 0.97) return { at: "arrival", request: "search", nth: 1, fate: "done" };
  return { at: "answer", request: "search", nth: 1, afterMs: random() * 6 };
}

const planMoods = (random: () => number): Behavior[] =>
  Array.from({ length: 3 }, () => (random() < 0.6 ? "answer" : pick(random, moods)));

function pick<T>(random: () => number, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T;
}
