import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { breakerPolicy } from "../../src/domain/breaker.ts";
import { outageBody } from "../../src/domain/recorded-steps.ts";
import type { FaultPoint } from "../../src/state/fault-points.ts";
import { LoopbackService, type ServiceCall } from "../support/loopback-service.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { endingOf } from "./support/expectations.ts";
import { type FastTime, fastClock } from "./support/later.ts";
import { type Life, Place } from "./support/place.ts";
import type { Program } from "./support/program.ts";
import { rowsOf } from "./support/recorded.ts";
import { dependency } from "./support/teams.ts";
import { until } from "./support/until.ts";

const seed = Number(process.env["TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 32));
const places = 8;
const together = 3;
const { threshold } = breakerPolicy;

type Caller = "client" | "neighbor";
const other = { client: "neighbor", neighbor: "client" } as const;
const completed = { status: "completed" };

describe("two processes share the breaker of a service that answers 503", () => {
  const cooldownMs = 75_000;
  let place: Place;
  let service: LoopbackService;
  let time: FastTime;
  let programs: Record<Caller, Program>;
  beforeEach(async () => {
    place = new Place();
    time = { since: Date.now(), speed: 30 };
    service = new LoopbackService(() => fastClock(time).now());
    await service.server.listen();
  });
  afterEach(async () => {
    await place.remove();
    await service.server.close();
  });

  const drive = (caller: Caller): Program =>
    place.drive(caller, {
      time,
      service: service.server.url,
      breaker: { threshold, cooldownMs },
    });
  const waits = async (caller: Caller) => rowsOf(await place.recorded(caller), "dependency.waiting");
  const callers = () => service.calls.map(({ caller }) => caller);

  /** One has opened the breaker, the other has met it, and nobody has called since. */
  async function openAndMeet(): Promise<void> {
    programs = { client: drive("client"), neighbor: drive("neighbor") };
    const ofThe = async (caller: Caller, step: string) =>
      (await place.recorded(caller)).marks.has(`${caller}, attempt 1: ${step}`);
    await until("the neighbor is at the door", () => ofThe("neighbor", "prepare"));
    await until("the client has opened it", async () => (await waits("client")).length === 1);
    expect(callers()).toEqual(Array.from({ length: 5 }, () => "client"));
    place.openDoor();
    await until("the neighbor has met it", async () => (await waits("neighbor")).length === 1);
    expect(callers(), "the neighbor does not call").toHaveLength(5);
    expect(place.breaker(dependency).state).toMatchObject({ kind: "open", failedProbes: 0 });
  }

  /** Both have come back at the same time: one may ask, and is not answered yet. */
  async function oneProbes(): Promise<{ readonly prober: Caller; readonly answer: () => void }> {
    const { promise, resolve: answer } = Promise.withResolvers<void>();
    service.status = 200;
    service.hold = () => promise;
    await until("somebody probes", () => service.calls.length > 5);
    const prober = (service.calls[5] as ServiceCall).caller as Caller;
    await until("the other is refused", async () => (await waits(other[prober])).length === 2);
    expect(callers(), "exactly one probe").toHaveLength(6);
    expect(place.breaker(dependency).state.kind).toBe("half-open");
    return { prober, answer };
  }

  it("one opens it, the other does not even call; after the cooldown one of them probes, and its success counts for both", async () => {
    await openAndMeet();
    const { prober, answer } = await oneProbes();
    answer();
    for (const caller of ["client", "neighbor"] as const)
      expect(endingOf(await place.afterlife(programs[caller], caller))).toMatchObject(completed);
    expect(callers().slice(5)).toEqual([prober, other[prober]]);
    const [open] = await waits("client");
    expect(service.calls[5]?.at, "not before its time").toBeGreaterThanOrEqual(open?.until ?? Infinity);
    expect(place.breaker(dependency)).toEqual({ state: { kind: "closed", failures: 0 }, notBefore: null });
    expect(rowsOf(await place.recorded("neighbor"), "attempt.started"), "waiting is free").toHaveLength(1);
    expect(rowsOf(await place.recorded("client"), "attempt.started")).toHaveLength(6);
  });

  it("one is asked to wait, the other waits as long without having called", async () => {
    service.status = 429;
    service.headers = { "retry-after": "60" };
    programs = { client: drive("client"), neighbor: drive("neighbor") };
    await until("the client was told to wait", async () => (await waits("client")).length === 1);
    service.status = 200;
    place.openDoor();
    await until("the neighbor waits as well", async () => (await waits("neighbor")).length === 1);
    expect(callers(), "the neighbor does not call").toEqual(["client"]);
    const told = place.breaker(dependency).notBefore ?? Infinity;
    for (const caller of ["client", "neighbor"] as const)
      expect(endingOf(await place.afterlife(programs[caller], caller))).toMatchObject(completed);
    expect(callers().toSorted()).toEqual(["client", "client", "neighbor"]);
    for (const { at } of service.calls.slice(1))
      expect(at, "not before its time").toBeGreaterThanOrEqual(told);
    expect(rowsOf(await place.recorded("neighbor"), "attempt.started"), "waiting is free").toHaveLength(1);
    expect(place.breaker(dependency), "no trace is left").toEqual({
      state: { kind: "closed", failures: 0 },
      notBefore: null,
    });
  });

  it("the one that probes is killed: its turn runs out, then the other probes", async () => {
    await openAndMeet();
    const { prober, answer } = await oneProbes();
    const survivor = other[prober];
    await programs[prober].end();
    answer();
    expect(endingOf(await place.afterlife(programs[survivor], survivor))).toMatchObject(completed);
    expect(callers().slice(5)).toEqual([prober, survivor]);
    const [, turn] = await waits(survivor);
    expect(service.calls[6]?.at, "not before the turn is over").toBeGreaterThanOrEqual(
      turn?.until ?? Infinity,
    );
    expect(place.breaker(dependency)).toEqual({ state: { kind: "closed", failures: 0 }, notBefore: null });

    expect(endingOf(await place.afterlife(drive(prober), prober))).toMatchObject(completed);
    expect(callers().slice(7), "its lost call is made again").toEqual([prober]);
    const attempts = rowsOf(await place.recorded(prober), "attempt.started").length;
    expect(attempts, "being killed is free").toBe(prober === "client" ? 6 : 1);
  });
});

it(`opens at exactly ${threshold} recorded outages, whoever is killed while they are counted (TEST_SEED=${seed})`, async () => {
  const random = seededRandom(seed);
  const plans = Array.from({ length: places }, () =>
    Array.from({ length: 6 }, () => planKill(random)),
  ).entries();
  let kills = 0;
  const worker = async (): Promise<void> => {
    for (const [index, plan] of plans) {
      kills += await countOutages(plan).catch((cause: unknown) => {
        throw new Error(`place ${index} of TEST_SEED=${seed}: ${JSON.stringify(plan)}`, { cause });
      });
    }
  };
  await Promise.all(Array.from({ length: together }, worker));
  expect(kills, "processes that were killed while they called").toBeGreaterThan(places);
});

/** When a caller is killed: beside a commit, or so many milliseconds after its n-th call has arrived or was answered. */
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

function planKill(random: () => number): Kill {
  const caller = random() < 0.5 ? "client" : "neighbor";
  if (random() < 0.4)
    return { at: "fault", caller, point: points[Math.floor(random() * points.length)] as FaultPoint };
  const at = random() < 0.3 ? "arrived" : "answered";
  return { at, caller, nth: random() < 0.7 ? 1 : 2, afterMs: random() * 8 };
}

/** Two sessions take turns at calling a service that is down, each life killed as planned; gives how many were. */
async function countOutages(plan: readonly Kill[]): Promise<number> {
  const place = new Place();
  const service = new LoopbackService();
  // A cooldown that nobody waits for: who meets the open breaker parks.
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
      expect(counted, "what is on record stays").toBeGreaterThanOrEqual(before);
    }
    for (const caller of ["client", "neighbor"] as const) {
      const ending = endingOf(await live(caller));
      expect(ending).toMatchObject({ status: "parked", reason: "breaker" });
      counted = await expectCountedOnce(place);
    }
    expect(counted).toBe(threshold);
    const { length } = service.calls;
    endingOf(await live("client"));
    expect(service.calls, "nobody calls any more").toHaveLength(length);
    expect(length, "calls that were lost with their process are made again").toBeLessThanOrEqual(
      threshold + kills,
    );
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
