import { expect } from "vitest";
import { deliverAll, expectCleanEnd, expectOneIssueEach } from "../crash/support/one-issue-each.ts";
import { type Kill, TicketPlace } from "../crash/support/ticket-place.ts";
import { GithubTracker, JiraTracker, type Tracker, WebhookTracker } from "../crash/support/trackers.ts";
import { issuesPath } from "../support/loopback-github.ts";
import { createPath, searchPath } from "../support/loopback-jira.ts";
import type { Behavior } from "../support/loopback-server.ts";
import { hookPath } from "../support/loopback-webhook.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse, type Trial } from "./campaign.ts";

/** Faults of a tracker: slow, rate-limited, failing before and after it acted, closing the connection halfway. */
const moods: readonly Behavior[] = [
  "slow",
  "rate-limit",
  "server-error",
  "gateway-error-after",
  "cut-answer",
  "drop-after",
  "drop-before",
];
/** Before the deadline of a posted ticket, between the deadline and the search, and after both. */
const pausesMs = [0, 6_000, 9_000, 12_000, 20_000, 61_000, 70_000, 80_000];
const problemEveryMs = 50_000;

export const trackers = {
  Jira: (now: () => number) => new JiraTracker(now),
  GitHub: (now: () => number) => new GithubTracker(now),
  webhook: () => new WebhookTracker(),
} as const satisfies Record<string, (now: () => number) => Tracker>;
export type TrackerName = keyof typeof trackers;

const killsPerTrial = 15;

export const ticketTrials: readonly Trial[] = (["Jira", "Jira", "GitHub", "webhook"] as const).map(
  (name) => ({
    title: name,
    run: async (seed) => (await killDeliveries(name, seed, killsPerTrial)).length,
  }),
);

/**
 * Kills delivering processes until enough died between a POST and its record; others die elsewhere. Every problem ends as
 * exactly one ticket. Returns the kinds of the kills.
 */
export async function killDeliveries(
  name: TrackerName,
  seed: number,
  wanted: number,
): Promise<readonly string[]> {
  const random = seededRandom(seed);
  const place = await new TicketPlace<Tracker>(trackers[name]).listen();
  const killed: string[] = [];
  let between = 0;
  let kill: Kill | undefined;
  try {
    await place.raise(1);
    await deliverAll(place);
    let raisedUntil = 0;
    for (let life = 1; between < wanted; life += 1) {
      expect(life, "lives for so few kills").toBeLessThan(6 * wanted + 20);
      if (place.now() >= raisedUntil) {
        raisedUntil = place.now() + 10 * problemEveryMs;
        await place.raise(10, problemEveryMs);
      }
      kill = planKill(random);
      const script = Object.fromEntries(
        [createPath, searchPath, issuesPath, hookPath].map((path) => [path, planMoods(random)]),
      );
      const { ended, betweenPostAndRecord, idle, again } = await place.deliver(script, kill);
      orElse("repeated", () => expect(again, "posted although recorded as delivered").toEqual([]));
      if (ended.signal === null) expectCleanEnd(ended);
      else {
        killed.push(kill.at === "fault" ? kill.point : `${kill.at} ${kill.request}`);
        if (betweenPostAndRecord) between += 1;
      }
      // Idle: no ticket was due, or the breaker of the tracker is open.
      place.aheadMs += idle ? 90_000 : pick(random, pausesMs);
    }
    await deliverAll(place);
    expectOneIssueEach(place);
    return killed;
  } catch (cause) {
    throw new Error(`${name}, seed ${seed}, kill ${killed.length}: ${JSON.stringify(kill)}`, { cause });
  } finally {
    await place.remove();
  }
}

/** Most kills come after the tracker has the request and before the outbox has its record. */
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
