import { expect, test } from "vitest";
import { createFailure, type FailureInput } from "../../../src/domain/failure.ts";
import { attemptPolicy, roundPolicy } from "../../../src/domain/retry-policy.ts";
import { decideAfterFailure, type FailedAttempt } from "../../../src/journal/after-failure.ts";

const policies = { attempts: attemptPolicy, rounds: roundPolicy };

function after(failure: Partial<FailureInput>, attemptsFailed: number, more: Partial<FailedAttempt> = {}) {
  const classified = createFailure({
    category: "RATE_LIMIT",
    message: "no",
    source: "error",
    outage: true,
    ...failure,
  });
  const counted = { attemptsFailed, roundsUsed: 1, inStep: true, now: 1000, random: 0, ...more };
  return decideAfterFailure({ error: new Error("no"), failure: classified, ...counted }, policies);
}

test("an unnamed service is waited for as long as it asks, between attempts and between rounds", () => {
  expect(after({ retryAfterMs: 30_000 }, 1)).toMatchObject({ kind: "attempt", wait: { waitMs: 30_000 } });
  expect(after({ retryAfterMs: 30_000 }, 3)).toMatchObject({ kind: "round", wait: { waitMs: 30_000 } });
  expect(after({ retryAfterMs: 1 }, 3)).toMatchObject({ kind: "round", wait: { waitMs: 5000 } });
});

test("a rate limit of a named service is left to its breaker, where all who call it wait", () => {
  const limited = { retryAfterMs: 7_200_000, dependency: "api.example.org" };
  expect(after(limited, 1)).toMatchObject({ kind: "attempt", continues: true, wait: { waitMs: 1000 } });
  expect(after(limited, 3)).toMatchObject({ kind: "round", continues: true, wait: { waitMs: 5000 } });
});

test("what a named service says with an outage counts: its breaker only counts those", () => {
  const down = { category: "API_ERROR", retryAfterMs: 30_000, dependency: "api.example.org" } as const;
  expect(after(down, 1)).toMatchObject({ kind: "attempt", wait: { waitMs: 30_000 } });
});
