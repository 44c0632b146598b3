import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { breakerPolicy } from "../../src/domain/breaker.ts";
import { killWhileOutagesAreCounted } from "../campaign/kill-breakers.ts";
import { LoopbackService, type ServiceCall } from "../support/loopback-service.ts";
import { endingOf } from "./support/expectations.ts";
import { type FastTime, fastClock } from "./support/later.ts";
import { Place } from "./support/place.ts";
import type { Program } from "./support/program.ts";
import { rowsOf } from "./support/recorded.ts";
import { dependency } from "./support/teams.ts";
import { until } from "./support/until.ts";

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

  /** One process has opened the breaker, the other waits for it, and neither has called since. */
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

  /** Both wake up at the same time; one is probing and has no answer yet. */
  async function oneProbes(): Promise<{ readonly prober: Caller; readonly answer: () => void }> {
    const { promise, resolve: answer } = Promise.withResolvers<void>();
    service.status = 200;
    service.hold = () => promise;
    await until("one process probes", () => service.calls.length > 5);
    const prober = (service.calls[5] as ServiceCall).caller as Caller;
    await until("the other is refused", async () => (await waits(other[prober])).length === 2);
    expect(callers(), "exactly one probe").toHaveLength(6);
    expect(place.breaker(dependency).state.kind).toBe("half-open");
    return { prober, answer };
  }

  it("one opens it and the other does not call; after the cooldown one probes, and its success closes it for both", async () => {
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

  it("when one gets a retry-after, the other waits as long without a call", async () => {
    service.status = 429;
    service.headers = { "retry-after": "60" };
    programs = { client: drive("client"), neighbor: drive("neighbor") };
    await until("the client got a retry-after", async () => (await waits("client")).length === 1);
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

  it("when the probing process is killed, its turn expires and the other probes", async () => {
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

it(`a breaker opens at exactly ${threshold} recorded outages although the processes that record them are killed`, async () => {
  const kills = await Promise.all([1, 2, 3, 4].map(killWhileOutagesAreCounted));
  expect(kills.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(4);
});
