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
  const request = (...messages: readonly string[]) => ({
    body: { system: "Be brief.", messages: messages.map((content) => ({ role: "user", content })) },
  });

  it("finds a prompt that only grew, and writes what was added", () => {
    const cache = new PromptCache();
    const first = cache.take(request("one"));
    const second = cache.take(request("one", "two"));
    expect(first.read).toBe(0);
    expect(second.read).toBe(first.written);
    expect(cache.take(request("one", "two"))).toEqual({ read: second.read + second.written, written: 0 });
  });

  it("writes everything behind a changed byte again", () => {
    const cache = new PromptCache();
    const whole = cache.take(request("one", "two", "three")).written;
    const changed = cache.take(request("One", "two", "three"));
    expect(changed.written).toBeGreaterThan(0.7 * whole);
  });
});
