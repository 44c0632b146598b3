import { describe, expect, it } from "vitest";
import { killAndMeasure, mostWritten } from "../campaign/cache.ts";
import { protocols } from "../campaign/models.ts";
import { PromptCache } from "../support/prompt-cache.ts";

const seeds = [1];

describe.concurrent("a conversation of thirty calls that is killed at random moments", () => {
  it.each(protocols)(
    "over %s sends the same requests, so that the provider's cache is not written again",
    async (_, model) => {
      let atWork = 0;
      for (const seed of seeds) {
        const killed = await killAndMeasure(model, seed);
        expect(killed.ratio).toBeLessThanOrEqual(mostWritten);
        atWork += killed.atWork;
      }
      expect(atWork, "killed after a question").toBeGreaterThan(seeds.length);
    },
  );
});

describe("the prompt cache that measures it", () => {
  const long = (text: string): string => text.repeat(1_000);
  const request = (...messages: readonly string[]) => ({
    body: { system: "Be brief.", messages: messages.map((content) => ({ role: "user", content })) },
  });
  /** With a mark behind each of these messages. */
  const marking = (marks: readonly number[], ...messages: readonly string[]) => ({
    body: {
      messages: messages.map((text, index) => ({
        role: "user",
        content: [{ type: "text", text, ...(marks.includes(index) && { cache_control: {} }) }],
      })),
    },
  });

  it("finds a prompt that only grew, and writes what was added", () => {
    const cache = new PromptCache();
    const first = cache.take(request(long("one"))).written;
    const second = cache.take(request(long("one"), long("two")));
    expect(second.read / first).toBeCloseTo(1, 1);
    expect(second.written / first).toBeCloseTo(1, 1);
  });

  it("writes everything behind a changed byte again", () => {
    const cache = new PromptCache();
    const whole = cache.take(request(long("one"), long("two"), long("three"))).written;
    const changed = cache.take(request(`O${long("one")}`, long("two"), long("three")));
    expect(changed.written).toBeGreaterThan(0.9 * whole);
  });

  it("finds a marked prompt only up to where a mark stored it", () => {
    const cache = new PromptCache();
    const first = cache.take(marking([0, 1], long("one"), long("two")));
    expect(first.read).toBe(0);
    const second = cache.take(marking([1], long("one"), long("TWO")));
    expect(second.read / first.written).toBeCloseTo(0.5, 1);
    const third = cache.take(marking([0, 1], long("ONE"), long("two")));
    expect(third.read).toBe(0);
    const unmarked = new PromptCache();
    unmarked.take(marking([1], long("one"), long("two")));
    expect(unmarked.take(marking([1], long("one"), long("TWO"))).read).toBe(0);
  });
});
