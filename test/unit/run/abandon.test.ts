import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import { Abandonment, orAbandon } from "../../../src/run/control.ts";

const patienceMs = 2_000;

function setUp() {
  const clock = new ManualClock();
  const end = new AbortController();
  return { clock, end, abandonment: new Abandonment(end.signal, clock) };
}

const never = () => new Promise<never>(() => {});
const outcome = (work: Promise<unknown>) =>
  work.then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );

describe("work under a signal", () => {
  test("settles with its own result or error, at once or later", async () => {
    const { abandonment } = setUp();
    expect(await abandonment.run(() => 1)).toBe(1);
    expect(await abandonment.run(async () => 2)).toBe(2);
    const refused = new Error("no");
    expect(await outcome(abandonment.run(() => Promise.reject(refused)))).toEqual({ error: refused });
    const thrown = abandonment.run(() => {
      throw refused;
    });
    expect(await outcome(thrown)).toEqual({ error: refused });
  });

  test("is abandoned shortly after it ignores the signal; work that ends in time is awaited", async () => {
    const { clock, end, abandonment } = setUp();
    const { promise, resolve } = Promise.withResolvers<string>();
    const [deaf, slow] = [outcome(abandonment.run(never)), outcome(abandonment.run(() => promise))];
    end.abort("stop");
    await clock.advance(patienceMs - 1);
    resolve("in time");
    expect(await slow).toEqual({ result: "in time" });
    await clock.advance(1);
    expect(await deaf).toEqual({ error: "stop" });
  });

  test("has the same grace period when it begins after the abort", async () => {
    const { clock, end, abandonment } = setUp();
    end.abort("stop");
    expect(await abandonment.run(() => "quick")).toBe("quick");
    const deaf = outcome(abandonment.run(never));
    await clock.advance(patienceMs);
    expect(await deaf).toEqual({ error: "stop" });
    const { promise, resolve } = Promise.withResolvers<string>();
    const later = outcome(abandonment.run(() => promise));
    await clock.advance(patienceMs - 1);
    resolve("in time");
    expect(await later, "abandoned work does not receive it").toEqual({ result: "in time" });
  });

  test("keeps the grace periods of other work, in any order of their ends", async () => {
    const { clock, end, abandonment } = setUp();
    const works = Array.from({ length: 5 }, () => Promise.withResolvers<string>());
    const outcomes = works.map(({ promise }) => outcome(abandonment.run(() => promise)));
    end.abort("stop");
    for (const place of [2, 0, 4, 3, 1]) {
      works[place]?.resolve("in time");
      expect(await outcomes[place]).toEqual({ result: "in time" });
    }
    await new Promise(setImmediate);
    expect(clock.nextDueInMs(), "no work is waited for").toBeUndefined();
  });

  test("that ends after it was abandoned does not end the grace period of other work", async () => {
    const { clock, end, abandonment } = setUp();
    end.abort("stop");
    const deaf = Array.from({ length: 3 }, () => Promise.withResolvers<string>());
    const left = deaf.map(({ promise }) => outcome(abandonment.run(() => promise)));
    await clock.advance(patienceMs);
    await Promise.all(left);
    const after = outcome(abandonment.run(never));
    for (const { resolve } of deaf) resolve("too late");
    await new Promise(setImmediate);
    expect(clock.nextDueInMs()).toBe(patienceMs);
    await clock.advance(patienceMs);
    expect(await after).toEqual({ error: "stop" });
  });

  test("registers one listener for any number of works, and removes it at the end", async () => {
    const { clock, end, abandonment } = setUp();
    const listeners = () => getEventListeners(end.signal, "abort").length;
    await Promise.all(Array.from({ length: 20 }, (_, number) => abandonment.run(() => number)));
    expect(listeners()).toBe(1);
    abandonment.stopListening();
    expect(listeners()).toBe(0);
    const refused = orAbandon(() => Promise.reject(new Error("no")), end.signal, clock);
    expect(listeners()).toBe(1);
    await outcome(refused);
    expect(listeners()).toBe(0);
  });

  test("leaves no timer when all of it has ended", async () => {
    const { clock, end } = setUp();
    const { promise, resolve } = Promise.withResolvers<void>();
    let sleepers = 0;
    const counting = {
      now: () => clock.now(),
      sleep: (ms: number, signal?: AbortSignal) => {
        sleepers += 1;
        return clock.sleep(ms, signal).finally(() => {
          sleepers -= 1;
        });
      },
    };
    const work = orAbandon(() => promise, end.signal, counting);
    end.abort("stop");
    expect(sleepers).toBe(1);
    resolve();
    await work;
    await new Promise(setImmediate);
    expect(sleepers).toBe(0);
  });
});
