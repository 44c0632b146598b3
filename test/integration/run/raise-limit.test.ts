import { expect, test } from "vitest";
import type { PersonaFunction } from "../../../src/index.ts";
import { Lives } from "./lives.ts";

const limitMs = 60_000;

/** Does nothing for this long, and ends unless it is stopped before. */
const silent =
  (lives: Lives, ms: number) =>
  ({ signal }: { readonly signal: AbortSignal }) =>
    lives.clock.sleep(ms, signal).then(() => ({ summary: "done" }));

test("work without progress twice in a row gets twice the time, and succeeds with it", async () => {
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

test("the time grows to at most four times the limit, and then a person is needed", async () => {
  const lives = new Lives();
  const result = await lives.live((context) => silent(lives, 1_000 * limitMs)(context), {
    attempts: { timeoutMs: limitMs, max: 6 },
    rounds: { max: 1 },
  });
  expect(result).toMatchObject({ status: "parked", reason: "help" });
  const limits = lives
    .rows("attempt.failed")
    .map((event) => event.kind === "attempt.failed" && event.settings?.timeoutMs);
  expect(limits.map((ms) => Number(ms) / limitMs || 1)).toEqual([1, 2, 4, 1, 1, 1]);
});

/** How long each attempt was let stand still, in limits. */
async function limitsOf(lives: Lives, work: PersonaFunction): Promise<readonly number[]> {
  const began: number[] = [];
  await lives.live(
    (context) => {
      began.push(lives.clock.now());
      return work(context);
    },
    { attempts: { timeoutMs: limitMs } },
  );
  const ended = lives.rows("attempt.failed") as unknown as { readonly at: string }[];
  return ended.map(({ at }, index) => Math.floor((Date.parse(at) - Number(began[index])) / limitMs));
}

test("a raised limit ends with its round: a new conversation has the limit of its team", async () => {
  const lives = new Lives();
  const limits = await limitsOf(lives, (context) => {
    if (context.failures.length % 3 === 2) throw new Error("the draft is no good");
    return silent(lives, 1_000 * limitMs)(context);
  });
  expect(limits).toEqual([1, 1, 0, 1, 1, 0]);
  expect(lives.rows("attempt.failed")[1]).toMatchObject({ settings: { timeoutMs: 2 * limitMs } });
});

test("work that continues in the next round keeps its raised limit", async () => {
  const lives = new Lives();
  expect(await limitsOf(lives, silent(lives, 1_000 * limitMs))).toEqual([1, 1, 2, 4, 4, 4]);
});
