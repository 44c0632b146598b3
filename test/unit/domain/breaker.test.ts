import { expect, test } from "vitest";
import {
  admit,
  type BreakerRecord,
  isEarlyProbe,
  newBreaker,
  onOutage,
  onOutcome,
  onRateLimit,
  onSuccess,
  parseBreaker,
  breakerPolicy as policy,
  raisesTicket,
} from "../../../src/domain/breaker.ts";
import { StateCorrupt } from "../../../src/domain/errors.ts";
import type { Json } from "../../../src/domain/json.ts";
import { newSeed, seededRandom } from "./seeded-random.ts";

const at = (now: number, owner = "call") => ({ now, owner, policy });
const start = 1_000_000;
const probeAt = start + policy.cooldownMs;

function opened(): BreakerRecord {
  let record = newBreaker;
  for (let count = 0; count < policy.threshold; count += 1) record = onOutage(record, at(start));
  return record;
}

const probing = (owner: string): BreakerRecord => admit(opened(), at(probeAt, owner)).record;

test("five outages in a row open it, four do not, and a success starts the count again", () => {
  let record = newBreaker;
  for (let count = 0; count < 4; count += 1) record = onOutage(record, at(start));
  expect(admit(record, at(start)).kind).toBe("allowed");
  record = onOutage(onSuccess(record, at(start)), at(start));
  expect(record.state).toEqual({ kind: "closed", failures: 1 });
  expect(opened().state).toEqual({ kind: "open", openedAt: start, probeAt, failedProbes: 0 });
});

test("an open breaker refuses until its cooldown is over, then lets exactly one probe through", () => {
  expect(admit(opened(), at(probeAt - 1))).toMatchObject({ kind: "refused", retryAt: probeAt });
  const first = admit(opened(), at(probeAt, "a"));
  expect(first.kind).toBe("probe");
  const deadline = probeAt + policy.probeDeadlineMs;
  expect(admit(first.record, at(probeAt + 1, "b"))).toMatchObject({ kind: "refused", retryAt: deadline });
});

test("a prober whose call lives renews its turn, so that a call longer than a deadline is the only one", () => {
  let record = probing("a");
  let now = probeAt;
  for (let renewals = 0; renewals < 50; renewals += 1) {
    now += policy.probeDeadlineMs / 3;
    const renewed = admit(record, at(now, "a"));
    expect(renewed).toMatchObject({ kind: "probe", record: { state: { openedAt: start, owner: "a" } } });
    record = renewed.record;
    expect(admit(record, at(now + policy.probeDeadlineMs - 1, "b")).kind).toBe("refused");
  }
  expect(onSuccess(record, at(now, "a")).state).toEqual({ kind: "closed", failures: 0 });
});

test("a killed prober frees the probe at its deadline; one that was only slow may not renew it, nor fail it", () => {
  const second = admit(probing("a"), at(probeAt + policy.probeDeadlineMs, "b"));
  expect(second).toMatchObject({ kind: "probe", record: { state: { owner: "b", failedProbes: 0 } } });
  expect(admit(second.record, at(probeAt + policy.probeDeadlineMs + 1, "a")).kind).toBe("refused");
  expect(onOutage(second.record, at(0, "a"))).toBe(second.record);
  expect(onOutcome(second.record, { kind: "unknown" }, at(0, "a"))).toBe(second.record);
});

test("the late success of a probe closes the breaker even while another call probes", () => {
  const second = admit(probing("a"), at(probeAt + policy.probeDeadlineMs, "b")).record;
  const failed = onOutage(second, at(probeAt + policy.probeDeadlineMs, "b"));
  for (const record of [second, failed]) {
    expect(onSuccess(record, { owner: "a", isProbe: true }).state).toEqual({ kind: "closed", failures: 0 });
    expect(onSuccess(record, { owner: "a" }), "not of a call from before").toBe(record);
  }
});

test("a probe that is given up gives its turn back at once, and says nothing about the service", () => {
  const record = onOutcome(probing("a"), { kind: "unknown" }, at(probeAt + 5, "a"));
  expect(record.state).toMatchObject({ kind: "open", openedAt: start, failedProbes: 0 });
  expect(admit(record, at(probeAt + 5, "b")).kind).toBe("probe");
  expect(onOutcome(newBreaker, { kind: "unknown" }, at(start))).toBe(newBreaker);
});

test("a probe that succeeds closes it, one that fails opens it for another cooldown", () => {
  expect(onSuccess(probing("a"), { owner: "a" }).state).toEqual({ kind: "closed", failures: 0 });
  expect(onOutage(probing("a"), at(probeAt + 5, "a")).state).toEqual({
    kind: "open",
    openedAt: start,
    probeAt: probeAt + 5 + policy.cooldownMs,
    failedProbes: 1,
  });
});

test("calls that began before it opened do not move it", () => {
  const record = opened();
  expect(onSuccess(record, at(start))).toBe(record);
  expect(onOutage(record, at(start + 1000))).toBe(record);
});

test("three failed probes raise a ticket", () => {
  let record = opened();
  const raised: boolean[] = [];
  const early: boolean[] = [];
  let now = start;
  for (let probe = 1; probe <= 4; probe += 1) {
    now += policy.cooldownMs;
    const { record: probing } = admit(record, at(now));
    early.push(isEarlyProbe(probing));
    record = onOutage(probing, at(now));
    raised.push(raisesTicket(record));
  }
  expect(raised).toEqual([false, false, true, true]);
  expect(early, "no event before then").toEqual([true, true, false, false]);
  expect(raisesTicket(newBreaker)).toBe(false);
});

test("a rate limit holds calls back as long as asked and opens nothing", () => {
  const limited = onRateLimit(newBreaker, 30_000, start);
  expect(limited.state).toEqual(newBreaker.state);
  expect(admit(limited, at(start))).toMatchObject({ kind: "refused", retryAt: start + 30_000 });
  expect(admit(limited, at(start + 30_000)).kind).toBe("allowed");
  expect(onRateLimit(limited, 1, start).notBefore).toBe(start + 30_000);
  expect(onRateLimit(newBreaker, 10 ** 12, start).notBefore).toBe(start + 3_600_000);
});

test("a service that does not say how long is asked less and less often, until it answers", () => {
  const waits: number[] = [];
  let record = newBreaker;
  let now = start;
  for (let limits = 1; limits <= 8; limits += 1) {
    record = onRateLimit(admit(record, at(now)).record, undefined, now);
    const together = onRateLimit(record, undefined, now);
    expect(together, "told together counts once").toEqual(record);
    waits.push((record.notBefore ?? 0) - now);
    now = record.notBefore ?? 0;
  }
  expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  const answered = onSuccess(admit(record, at(now)).record, at(now));
  expect(answered).toEqual(newBreaker);
  expect(onRateLimit(answered, undefined, now).notBefore).toBe(now + 1000);
});

test("a rate limit that is over leaves no trace on the way through", () => {
  const limited = onRateLimit(newBreaker, 2_000, start);
  expect(admit(limited, at(start + 2_000))).toMatchObject({ kind: "allowed", record: { notBefore: null } });
});

test("a prober that meets a rate limit gives its turn back, others do not", () => {
  const record = onRateLimit(probing("a"), 1000, probeAt, "a");
  expect(admit(record, at(probeAt, "b"))).toMatchObject({ kind: "refused", retryAt: probeAt + 1000 });
  expect(admit(record, at(probeAt + 1000, "b")).kind).toBe("probe");
  expect(onRateLimit(probing("a"), 1000, probeAt, "b").state).toEqual(probing("a").state);
});

test("a clock that was set back cannot keep it shut for ever", () => {
  const past = start - 10 ** 9;
  for (const record of [opened(), probing("a"), onRateLimit(newBreaker, 30_000, start)]) {
    const admission = admit(record, at(past, "b"));
    const retryAt = admission.kind === "refused" ? admission.retryAt : Number.NaN;
    expect(retryAt - past).toBeLessThanOrEqual(3_600_000);
    expect(admit(admission.record, at(retryAt, "b")).kind).not.toBe("refused");
  }
});

test("an answer that changes nothing gives the same record, so nothing need be saved", () => {
  for (const record of [newBreaker, opened(), onRateLimit(newBreaker, 10, start)]) {
    expect(admit(record, at(start)).record).toBe(record);
  }
});

test("whatever happens, at most one probe is out and a wait always ends", () => {
  const seed = newSeed();
  const random = seededRandom(seed);
  let record = newBreaker;
  let now = start;
  const wrong: string[] = [];
  let probe: { owner: string; deadline: number } | undefined;
  for (let count = 0; count < 5000; count += 1) {
    const owner = `call${Math.floor(random() * 5)}-${count}`;
    now += Math.floor(random() * 20_000);
    const admission = admit(record, at(now, owner));
    if (admission.kind === "probe") {
      if (probe && probe.deadline > now) wrong.push(`two probes at step ${count}`);
      probe = { owner, deadline: now + policy.probeDeadlineMs };
    }
    record = admission.record;
    const outcome = random();
    if (admission.kind === "refused") {
      if (admission.retryAt <= now || admission.retryAt > now + 3_600_000) wrong.push(`endless at ${count}`);
    } else if (outcome < 0.6) record = onOutage(record, at(now, owner));
    else if (outcome < 0.7) record = onSuccess(record, at(now, owner));
    else if (outcome < 0.8) record = onRateLimit(record, random() * 10_000, now, owner);
    if (record.state.kind !== "half-open") probe = undefined;
    expect(parseBreaker(JSON.parse(JSON.stringify(record)) as Json)).toEqual(record);
  }
  expect(wrong, `seed ${seed}`).toEqual([]);
});

test("a damaged stored breaker is reported, not believed", () => {
  const open = { kind: "open", openedAt: 1, probeAt: 2, failedProbes: 0 };
  const wrong: Json[] = [
    null,
    [],
    "closed",
    {},
    { state: { kind: "closed", failures: 0 } },
    { state: { kind: "closed", failures: -1 }, notBefore: null },
    { state: { kind: "closed", failures: "1" }, notBefore: null },
    { state: { kind: "ajar" }, notBefore: null },
    { state: { ...open, probeAt: 1.5 }, notBefore: null },
    { state: { ...open, kind: "half-open", deadline: 5, owner: "" }, notBefore: null },
    { state: open, notBefore: "soon" },
    { state: open, notBefore: null, rateLimits: -1 },
  ];
  for (const json of wrong) expect(() => parseBreaker(json)).toThrow(StateCorrupt);
});
