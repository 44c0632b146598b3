import { describe, expect, test } from "vitest";
import { isAsJudged, leaseState, watchedState, watchMs } from "../../../src/store/decisions/lease.ts";
import { type Heartbeat, thisOwner } from "../../../src/store/owner.ts";

const leaseMs = 15_000;
const hourMs = 3_600_000;
const observer = thisOwner();
/** This process itself, so that its pid is known to live. */
const near: Heartbeat = { ...observer, id: "near", beats: 5, beatUptimeMs: 1_000_000, beatAt: 5_000_000 };
const otherContainer: Heartbeat = { ...near, id: "container", pidNamespace: "another" };
const otherBoot: Heartbeat = {
  ...near,
  id: "boot",
  machine: "another",
  boot: "another",
  pidNamespace: "another",
};
const look = (silentMs: number, clockJumpMs = 0) => ({
  observer,
  leaseMs,
  uptimeMs: near.beatUptimeMs + silentMs,
  now: near.beatAt + silentMs + clockJumpMs,
});

describe("one look at a lease", () => {
  test.each([near, otherContainer])("ignores jumps of the wall clock within one boot ($id)", (holder) => {
    for (const jumpMs of [-hourMs, 0, hourMs]) {
      expect(leaseState(holder, look(leaseMs, jumpMs))).toBe("held");
      expect(leaseState(holder, look(leaseMs + 1, jumpMs))).toBe("expired");
    }
  });

  test("suspects a holder of another boot by the wall clock, whichever way it differs", () => {
    expect(leaseState(otherBoot, look(1_000))).toBe("held");
    for (const jumpMs of [-hourMs, hourMs])
      expect(leaseState(otherBoot, look(1_000, jumpMs))).toBe("expired");
  });

  test("believes the beat that it saw move, whatever the clocks say", () => {
    for (const jumpMs of [-hourMs, hourMs]) {
      expect(leaseState(otherBoot, { ...look(1_000, jumpMs), movedMs: leaseMs })).toBe("held");
      expect(leaseState(otherBoot, { ...look(1_000, jumpMs), movedMs: leaseMs + 1 })).toBe("expired");
    }
    expect(leaseState(otherBoot, { ...look(1_000), movedMs: leaseMs + 1 })).toBe("expired");
  });

  test("finds a holder dead at once when its pid belongs to another process", () => {
    expect(leaseState({ ...near, started: "earlier" }, look(0))).toBe("dead");
    expect(leaseState({ ...otherContainer, started: "earlier" }, look(0))).toBe("held");
  });
});

describe("the watch before an expired lease is taken", () => {
  test("lasts for more than a beat within one boot, and for the whole lease across boots", () => {
    for (const holder of [near, otherContainer]) {
      expect(watchMs(holder, observer, leaseMs)).toBeGreaterThan(leaseMs / 3);
      expect(watchMs(holder, observer, leaseMs)).toBeLessThan(leaseMs);
    }
    expect(watchMs(otherBoot, observer, leaseMs)).toBe(leaseMs);
  });

  test("is not needed for a holder of this machine from before it was started anew", () => {
    const here = { ...observer, machine: "this machine" };
    expect(watchMs({ ...otherBoot, machine: here.machine }, here, leaseMs)).toBe(0);
    expect(watchMs({ ...otherBoot, machine: "" }, { ...observer, machine: "" }, leaseMs)).toBe(leaseMs);
  });

  test("ends with the lease held after any beat, also when the clocks are an hour apart", () => {
    const beaten = { ...otherBoot, beats: otherBoot.beats + 1 };
    expect(watchedState(otherBoot, beaten, look(leaseMs, hourMs))).toBe("held");
    expect(watchedState(otherBoot, otherBoot, look(leaseMs, hourMs))).toBe("expired");
  });

  test("keeps the lease of a process that was suspended with its machine and beats again", () => {
    const resumed = { ...near, beats: near.beats + 1, beatUptimeMs: near.beatUptimeMs + hourMs };
    expect(leaseState(near, look(hourMs))).toBe("expired");
    expect(watchedState(near, resumed, look(hourMs))).toBe("held");
  });

  test("finds the lease free, or judges its new holder, when the session changed hands meanwhile", () => {
    expect(watchedState(otherBoot, undefined, look(hourMs))).toBe("free");
    expect(watchedState(otherBoot, near, look(0))).toBe("held");
  });
});

test("a claim is refused when the lease changed after it was judged", () => {
  const judged = { epoch: 3, owner: "a", beat: 7 };
  expect(isAsJudged(judged, judged)).toBe(true);
  for (const change of [{ epoch: 4 }, { owner: "b" }, { owner: null, beat: null }, { beat: 8 }])
    expect(isAsJudged({ ...judged, ...change }, judged)).toBe(false);
});
