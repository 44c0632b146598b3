import { expect, test } from "vitest";
import { createFailure, type FailureInput } from "../../../src/domain/failure.ts";
import { attemptPolicy, roundPolicy } from "../../../src/domain/retry-policy.ts";
import {
  decideAfterFailure,
  type FailedAttempt,
  isEqualFailure,
} from "../../../src/journal/after-failure.ts";

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

test("a failure equal to the one before ends the round, and the last round ends in a request for help", () => {
  const wrong = { category: "CONTRACT", outage: false } as const;
  const stuck = { sameAs: 7, inStep: false };
  expect(after(wrong, 2, { inStep: false })).toMatchObject({ kind: "attempt" });
  expect(after(wrong, 2, stuck)).toMatchObject({ kind: "round", sameAs: 7, wait: { waitMs: 5000 } });
  expect(after(wrong, 2, { ...stuck, roundsUsed: 2 })).toEqual({ kind: "help", sameAs: 7 });
});

test("an outage or a healed failure does not end the round early", () => {
  expect(after({}, 2, { sameAs: 7 })).toMatchObject({ kind: "attempt" });
  const wrong = { category: "CONTRACT", outage: false } as const;
  expect(after(wrong, 2, { sameAs: 7, mended: true })).toMatchObject({ kind: "attempt" });
});

test("failures are equal when the same checks fail in the same way on the same files", () => {
  const check = (name: string, message: string, status: "passed" | "failed" = "failed") =>
    ({ kind: "command", name, status, must: true, weight: 1, message, failures: [] }) as const;
  const one = { tree: "a", checks: [check("tests", "2 failed"), check("lint", "ok", "passed")] };
  expect(isEqualFailure(one, { ...one, checks: [check("tests", "2 failed")] })).toBe(true);
  expect(isEqualFailure(one, { ...one, tree: "b" }), "other files").toBe(false);
  expect(isEqualFailure(one, { ...one, checks: [check("tests", "1 failed")] }), "progress").toBe(false);
  expect(isEqualFailure(one, { ...one, checks: [...one.checks, check("build", "no")] })).toBe(false);
  const passed = { tree: "a", checks: [check("tests", "ok", "passed")] };
  expect(isEqualFailure(passed, passed), "no failed check is no evidence").toBe(false);
});
