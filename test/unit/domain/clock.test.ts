import { afterEach, expect, test, vi } from "vitest";
import { systemClock } from "../../../src/domain/clock.ts";
import { ManualClock } from "../../../src/domain/manual-clock.ts";

afterEach(() => void vi.useRealTimers());

test("a sleep of zero or less, or of no number, ends in a turn", async () => {
  for (const ms of [0, -5, Number.NaN]) {
    await expect(systemClock.sleep(ms)).resolves.toBeUndefined();
    await expect(new ManualClock().sleep(ms)).resolves.toBeUndefined();
  }
});

test("a sleep longer than a timer can hold lasts as long as asked", async () => {
  vi.useFakeTimers();
  let awake = false;
  const sleeping = systemClock.sleep(2 ** 32).then(() => (awake = true));
  await vi.advanceTimersByTimeAsync(2 ** 32 - 1);
  expect(awake).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(awake).toBe(true);
  await sleeping;
});

test("an abort ends a sleep with its reason and leaves no timer behind", async () => {
  vi.useFakeTimers();
  const controller = new AbortController();
  const sleeping = systemClock.sleep(1000, controller.signal);
  controller.abort("enough");
  await expect(sleeping).rejects.toBe("enough");
  await expect(systemClock.sleep(1000, controller.signal)).rejects.toBe("enough");
  expect(vi.getTimerCount()).toBe(0);
});

test("a manual clock wakes sleepers in time order, also those started on the way", async () => {
  const clock = new ManualClock(1000);
  const woken: string[] = [];
  const sleeper = async (name: string, ...sleepsMs: number[]) => {
    for (const ms of sleepsMs) {
      await clock.sleep(ms);
      woken.push(`${name}@${clock.now()}`);
    }
  };
  const all = Promise.all([sleeper("slow", 30), sleeper("twice", 10, 15), sleeper("later", 500)]);
  await clock.advance(100);
  expect(woken).toEqual(["twice@1010", "twice@1025", "slow@1030"]);
  expect([clock.now(), clock.pending(), clock.nextDueInMs()]).toEqual([1100, 1, 400]);
  await clock.advance(400);
  await all;
  expect([clock.pending(), clock.nextDueInMs()]).toEqual([0, undefined]);
});

test("a jump of the wall clock wakes no sleeper and makes no sleep longer", async () => {
  const clock = new ManualClock(0);
  const sleeping = clock.sleep(10);
  clock.jump(-1_000_000);
  expect([clock.now(), clock.pending()]).toEqual([-1_000_000, 1]);
  await clock.advance(10);
  await sleeping;
});

test("an abort takes a sleeper off the manual clock", async () => {
  const clock = new ManualClock();
  const controller = new AbortController();
  const sleeping = clock.sleep(10, controller.signal);
  controller.abort("enough");
  await expect(sleeping).rejects.toBe("enough");
  expect(clock.pending()).toBe(0);
});
