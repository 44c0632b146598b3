import { expect, test } from "vitest";
import { Lives } from "./lives.ts";

const limitMs = 60_000;

/** Stands still for so long, and ends if nobody stops it before. */
const silent =
  (lives: Lives, ms: number) =>
  ({ signal }: { readonly signal: AbortSignal }) =>
    lives.clock.sleep(ms, signal).then(() => ({ summary: "done" }));

test("work that stands still twice in a row gets twice the time, and with that it gets done", async () => {
  const lives = new Lives();
  const result = await lives.live(
    async (context) => {
      await context.step("before", lives.effect("before", 1));
      return silent(lives, 1.5 * limitMs)(context);
    },
    { attempts: { timeoutMs: limitMs } },
  );
  expect(result.status).toBe("completed");
  expect(lives.ran, "what was recorded is not done again").toEqual(["before"]);
  expect(lives.rows("attempt.failed")).toMatchObject([
    { failure: { category: "TIMEOUT" } },
    {
      settings: { timeoutMs: 2 * limitMs },
      healing: [
        {
          healer: "raise-limit",
          action: "let the next attempt stand still for 120 s instead of 60 s",
          did: { kind: "raised-limit", limit: "timeoutMs", from: limitMs, to: 2 * limitMs },
          outcome: "kept",
        },
      ],
    },
  ]);
});

test("never more than four times as much; when that does not help, a person is asked", async () => {
  const lives = new Lives();
  const result = await lives.live((context) => silent(lives, 1_000 * limitMs)(context), {
    attempts: { timeoutMs: limitMs, max: 6 },
    rounds: { max: 1 },
  });
  expect(result).toMatchObject({ status: "parked", reason: "help" });
  const limits = lives.rows("attempt.failed").map((row) => "settings" in row && row.settings?.timeoutMs);
  expect(limits.map((ms) => Number(ms) / limitMs || 1)).toEqual([1, 2, 4, 1, 1, 1]);
});
