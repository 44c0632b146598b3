import { expect, onTestFinished, test } from "vitest";
import { breakerPolicy as policy } from "../../../src/domain/breaker.ts";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import { CircuitBreaker } from "../../../src/run/circuit-breaker.ts";
import { SqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";

const dependency = "api.example.org";
const outage = { kind: "outage" } as const;

/** A breaker that has just opened and cooled down, and a probe that has its turn. */
async function probing() {
  const clock = new ManualClock();
  const store = new SqliteStore({ path: ":memory:", clock, leaseMs: 15_000 });
  onTestFinished(() => store.close());
  const hopeless: string[] = [];
  const breaker = new CircuitBreaker({
    breakers: store.breakers,
    policy,
    clock,
    onHopeless: async (name) => void hopeless.push(name),
  });
  const ask = async () => {
    const use = breaker.use(dependency);
    const { kind } = await breaker.admit(use);
    return { kind, use: { ...use, isProbe: kind === "probe" } };
  };
  for (let count = 0; count < policy.threshold; count += 1) {
    const { use } = await ask();
    await store.breakers.end({ use, outcome: outage });
  }
  await clock.advance(policy.cooldownMs);
  const state = async () => (await store.breakers.read(dependency)).state;
  return { clock, breaker, breakers: store.breakers, hopeless, ask, state, probe: await ask() };
}

/** Time passes, and what it wakes gets to the writer's thread and back. */
async function pass(clock: ManualClock, ms: number, renewed: () => Promise<boolean>): Promise<void> {
  await clock.advance(ms);
  while (!(await renewed())) await new Promise((resolve) => setImmediate(resolve));
}

test("a probe that outlives its deadline stays the only one until it ends, and its success closes the breaker", async () => {
  const { clock, breaker, breakers, ask, state, probe } = await probing();
  expect(probe.kind).toBe("probe");
  const { promise: answered, resolve: answer } = Promise.withResolvers<string>();
  const call = breaker.attend(probe.use, () => answered);
  for (let renewals = 0; renewals < 9; renewals += 1) {
    const due = clock.now() + policy.probeDeadlineMs / 3 + policy.probeDeadlineMs;
    await pass(clock, policy.probeDeadlineMs / 3, async () => {
      const now = await state();
      return now.kind === "half-open" && now.deadline === due;
    });
    expect((await ask()).kind).toBe("refused");
  }
  answer("here");
  expect(await call).toBe("here");
  await breakers.end({ use: probe.use, outcome: { kind: "success" } });
  expect(await state()).toEqual({ kind: "closed", failures: 0 });
  expect(clock.pending(), "no timer renews it any more").toBe(0);
});

test("an abandoned probe frees the next one at once", async () => {
  const { breaker, ask, state, probe } = await probing();
  const stopped = new Error("told to stop");
  await expect(breaker.attend(probe.use, () => Promise.reject(stopped))).rejects.toBe(stopped);
  expect(await state()).toMatchObject({ kind: "open", failedProbes: 0 });
  expect((await ask()).kind).toBe("probe");
});

test("a dependency raises a ticket after its third failed probe; a tracker never does", async () => {
  const { clock, breaker, breakers, hopeless, ask, probe } = await probing();
  await breakers.end({ use: probe.use, outcome: outage });
  const failing = () =>
    breaker.guard(
      dependency,
      () => Promise.reject(new Error("down")),
      () => outage,
    );
  for (let failed = 1; failed < 3; failed += 1) {
    await clock.advance(policy.cooldownMs);
    await expect(failing()).rejects.toThrow("down");
  }
  expect(hopeless).toEqual([]);
  await expect(failing()).rejects.toMatchObject({ code: "CIRCUIT_OPEN" });
  await clock.advance(policy.cooldownMs);
  const { use } = await ask();
  await breakers.end({ use, outcome: outage });
  await breaker.ended(use, outage);
  expect(hopeless).toEqual([dependency]);
});

test("a refused call names the command that resets the breaker in this state directory", async () => {
  const { breaker } = await probing();
  const refused = breaker.guard(
    dependency,
    async () => "answered",
    () => outage,
  );
  await expect(refused).rejects.toMatchObject({
    code: "CIRCUIT_OPEN",
    advice: expect.stringMatching(/: maestro breakers reset api\.example\.org$/),
  });
});
