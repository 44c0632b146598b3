import { expect } from "vitest";
import { breakerPolicy } from "../../src/domain/breaker.ts";
import { outageBody } from "../../src/journal/journal-codec.ts";
import type { FaultPoint } from "../../src/testing/index.ts";
import { endingOf } from "../crash/support/expectations.ts";
import { type Life, Place } from "../crash/support/place.ts";
import { dependency } from "../crash/support/teams.ts";
import { LoopbackService } from "../support/loopback-service.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse } from "./campaign.ts";

const { threshold } = breakerPolicy;
const killsPlanned = 6;

type Caller = "client" | "neighbor";

/** Before or after a commit, or some milliseconds after the n-th call arrived or was answered. */
type Kill =
  | { readonly at: "fault"; readonly caller: Caller; readonly point: FaultPoint }
  | {
      readonly at: "arrived" | "answered";
      readonly caller: Caller;
      readonly nth: number;
      readonly afterMs: number;
    };

const points: readonly FaultPoint[] = [
  "breaker.recorded:before-commit",
  "breaker.recorded:after-commit",
  "attempt.failed:before-commit",
  "attempt.failed:after-commit",
  "attempt.started:after-commit",
];

/** Two sessions take turns at a service that is down: the breaker opens at exactly the recorded number of outages. */
export async function killWhileOutagesAreCounted(seed: number): Promise<number> {
  const random = seededRandom(seed);
  const plan = Array.from({ length: killsPlanned }, () => planKill(random));
  try {
    return await countOutages(plan);
  } catch (cause) {
    throw new Error(`seed ${seed}, kills ${JSON.stringify(plan)}`, { cause });
  }
}

function planKill(random: () => number): Kill {
  const caller = random() < 0.5 ? "client" : "neighbor";
  if (random() < 0.4)
    return { at: "fault", caller, point: points[Math.floor(random() * points.length)] as FaultPoint };
  const at = random() < 0.3 ? "arrived" : "answered";
  return { at, caller, nth: random() < 0.7 ? 1 : 2, afterMs: random() * 8 };
}

async function countOutages(plan: readonly Kill[]): Promise<number> {
  const place = new Place();
  const service = new LoopbackService();
  // The cooldown outlasts the test, so a session that meets the open breaker parks.
  const options = { breaker: { threshold, cooldownMs: 3_600_000 } };
  const live = async (caller: Caller, kill?: Kill): Promise<Life> => {
    const fault = kill?.at === "fault" ? ({ point: kill.point, hit: 1, act: "kill" } as const) : undefined;
    const program = place.drive(caller, { ...options, service: service.server.url, fault });
    let left = kill === undefined || kill.at === "fault" ? 0 : kill.nth;
    const killAt = (moment: "arrived" | "answered"): void => {
      if (kill?.at === moment && --left === 0) setTimeout(() => program.signal("SIGKILL"), kill.afterMs);
    };
    service.hold = async () => killAt("arrived");
    service.server.witness.answered = () => killAt("answered");
    return place.afterlife(program, caller);
  };
  try {
    await service.server.listen();
    place.openDoor();
    let counted = 0;
    let kills = 0;
    for (const kill of plan) {
      const { ended } = await live(kill.caller, kill);
      kills += ended.signal === "SIGKILL" ? 1 : 0;
      const before = counted;
      counted = await expectCountedOnce(place);
      orElse("lost", () => expect(counted, "recorded outages").toBeGreaterThanOrEqual(before));
    }
    for (const caller of ["client", "neighbor"] as const) {
      const ending = endingOf(await live(caller));
      expect(ending).toMatchObject({ status: "parked", reason: "breaker" });
      counted = await expectCountedOnce(place);
    }
    expect(counted).toBe(threshold);
    const { length } = service.calls;
    endingOf(await live("client"));
    orElse("repeated", () => {
      expect(service.calls, "calls after the breaker opened").toHaveLength(length);
      expect(length, "one more call for each kill").toBeLessThanOrEqual(threshold + kills);
    });
    return kills;
  } finally {
    await place.remove();
    await service.server.close();
  }
}

/** The breaker has counted exactly the outages that are on record; the last one that counts opens it. */
async function expectCountedOnce(place: Place): Promise<number> {
  const recorded = await Promise.all([place.recorded("client"), place.recorded("neighbor")]);
  const outages = recorded
    .flatMap(({ rows }) => rows)
    .filter(({ body }) => body.startsWith(outageBody)).length;
  const { state } = place.breaker(dependency);
  expect(state).toMatchObject(
    outages < threshold ? { kind: "closed", failures: outages } : { kind: "open", failedProbes: 0 },
  );
  return outages;
}
