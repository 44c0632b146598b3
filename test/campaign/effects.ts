import { expect } from "vitest";
import type { FaultPoint } from "../../src/testing/index.ts";
import { resultOf, treasuryEffects } from "../crash/support/effect-team.ts";
import { endingOf } from "../crash/support/expectations.ts";
import { type Life, Place } from "../crash/support/place.ts";
import { rowsOf } from "../crash/support/recorded.ts";
import type { Scenario } from "../crash/support/scenarios.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse } from "./campaign.ts";
import { expectNoRepeat, pick, settleAll } from "./settle-effects.ts";

const key = "treasury";
const killsPlanned = 5;
/** Parks by effects without a probe, and kills, are bounded; a session that needs more drives makes no progress. */
const mostDrives = 30;

/** Inside an effect, at a commit near it, or at any moment. */
type Kill =
  | { readonly at: "effect"; readonly effect: string; readonly moment: "before" | "after" }
  | { readonly at: "fault"; readonly point: FaultPoint; readonly hit: number }
  | { readonly at: "time"; readonly afterMs: number };

const points: readonly FaultPoint[] = [
  "effect.intended:before-commit",
  "effect.intended:after-commit",
  "step.function:after-effect",
  "effect.settled:before-commit",
  "effect.settled:after-commit",
  "effect.unknown:before-commit",
  "effect.unknown:after-commit",
  "attempt.failed:before-commit",
  "attempt.failed:after-commit",
  "attempt.started:after-commit",
  "ticket.raised:before-commit",
  "ticket.raised:after-commit",
  "session.claimed:after-commit",
  "checkpoint.sealed:after-commit",
];

/** How the outcomes of effects became known, over all trials of this process. */
export const covered = { probed: 0, parked: 0, settled: 0, reused: 0 };

/**
 * A team whose effects must happen at most once is killed around them. A person settles what no probe knows, by a look at
 * the side file. In the end each effect has happened exactly once.
 */
export async function killAroundEffects(seed: number): Promise<number> {
  const random = seededRandom(seed);
  const plan = Array.from({ length: killsPlanned }, () => planKill(random));
  const place = new Place();
  try {
    let kills = 0;
    for (const kill of plan) if (await live(place, random, kill)) kills += 1;
    await finish(place, random);
    return kills;
  } catch (cause) {
    throw new Error(`seed ${seed}, kills ${JSON.stringify(plan)}`, { cause });
  } finally {
    await place.remove();
  }
}

/** Drives and settles until the session is completed: then each effect has happened exactly once. */
export async function finish(place: Place, random: () => number): Promise<void> {
  for (let drives = 1; ; drives += 1) {
    if (drives > mostDrives) throw new Error(`not completed after ${mostDrives} drives`);
    await live(place, random);
    const last = place.lives.at(-1) as Life;
    if ((endingOf(last) as { readonly status: string }).status === "completed") break;
  }
  expectOnce(place);
}

/** For one named point. Its marks name no attempts, so that the general check of losses does not apply. */
export const treasured = (...hits: number[]): Scenario => ({
  team: key,
  hits,
  before: async () => undefined,
  recover: (place) => finish(place, seededRandom(1)),
});

function planKill(random: () => number): Kill {
  const roll = random();
  if (roll < 0.45)
    return {
      at: "effect",
      effect: pick(random, treasuryEffects),
      moment: random() < 0.5 ? "before" : "after",
    };
  if (roll < 0.85) return { at: "fault", point: pick(random, points), hit: 1 + Math.floor(random() * 5) };
  return { at: "time", afterMs: 40 + random() * 400 };
}

/** One process, and then a person. Whether the process was killed. */
async function live(place: Place, random: () => number, kill?: Kill): Promise<boolean> {
  const driver = place.drive(key, {
    ...(kill?.at === "fault" && { fault: { point: kill.point, hit: kill.hit, act: "kill" } as const }),
    ...(kill?.at === "effect" && { killIn: kill }),
  });
  const timer = kill?.at === "time" ? setTimeout(() => driver.signal("SIGKILL"), kill.afterMs) : undefined;
  const life = await place.afterlife(driver, key);
  clearTimeout(timer);
  expectNoRepeat(place);
  covered.probed += rowsOf(life.recorded, "effect.settled").filter(({ by }) => by === "probe").length;
  if (life.ended.signal === "SIGKILL") return true;
  const ending = endingOf(life) as { readonly status: string; readonly reason?: string };
  if (ending.status === "completed") return false;
  expect(ending).toMatchObject({ status: "parked", reason: "unknown" });
  covered.parked += 1;
  covered.settled += await settleAll(place, key, random, ({ name, persona }) => {
    const label = `${persona}: ${name}`;
    return place.marks.includes(label) ? resultOf(label) : undefined;
  });
  return false;
}

/** Each effect once in the side file, and each as one that happened. */
function expectOnce(place: Place): void {
  orElse("lost", () => expect(place.marks.toSorted()).toEqual([...treasuryEffects].toSorted()));
  expectNoRepeat(place);
  const last = place.lives.at(-1) as Life;
  const failed = rowsOf(last.recorded, "attempt.failed").map(({ persona }) => persona);
  // The balance that is never right, and the closed bank unless a kill hid its answer: no kill and no unknown outcome uses up
  // an attempt.
  expect(["cashier", "cashier,clerk"]).toContain(failed.toSorted().join());
  covered.reused +=
    last.recorded.rows.filter(({ kind, name }) => kind === "step.function" && name === "charge").length - 1;
}
