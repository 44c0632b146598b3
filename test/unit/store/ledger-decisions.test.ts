import { describe, expect, test } from "vitest";
import { noAmount } from "../../../src/domain/budget.ts";
import type { CallEnding, CallStatus } from "../../../src/domain/ledger.ts";
import { noUsage } from "../../../src/domain/usage.ts";
import {
  cacheSaving,
  countedIn,
  decideRelease,
  levelsOf,
  mayBeHeldUpByTheDead,
  refusesToSettle,
} from "../../../src/store/decisions/ledger.ts";

const lease = { session: 1, epoch: 2 };
const call = (status: CallStatus, over: Partial<typeof lease> = {}) => ({ ...lease, status, ...over });

describe("a reservation", () => {
  test.each(["open", "estimated"] as const)(
    "that is %s can be settled and released by its lease",
    (status) => {
      expect(refusesToSettle(call(status), lease)).toBeUndefined();
      expect(decideRelease(call(status), lease)).toBe("remove");
    },
  );

  test.each(["settled", "failed"] as const)(
    "that is %s can be neither settled again nor released",
    (status) => {
      expect(refusesToSettle(call(status), lease)).toBe("is settled already");
      expect(decideRelease(call(status), lease)).toBe("settled");
    },
  );

  test.each([undefined, call("open", { session: 9 }), call("open", { epoch: 1 })])(
    "of another lease is not settled, and its release does nothing (%j)",
    (other) => {
      expect(refusesToSettle(other, lease)).toBe("is not of this lease");
      expect(decideRelease(other, lease)).toBe("nothing to do");
    },
  );
});

test("the simulated model takes nothing of the day's budget", () => {
  expect(levelsOf("simulated")).not.toContain("day");
  expect(levelsOf("openai/gpt-5")).toContain("day");
});

test("an open call counts as reserved, an ended one as used", () => {
  const asked = { tokens: 100, microUsd: 50 };
  const ending: CallEnding = {
    status: "settled",
    failed: false,
    usage: { ...noUsage, inputTokens: 30, outputTokens: 10 },
    costMicroUsd: 7,
  };
  expect(countedIn(undefined, asked)).toEqual({ used: noAmount, reserved: asked });
  expect(countedIn(ending, asked)).toEqual({ used: { tokens: 40, microUsd: 7 }, reserved: noAmount });
});

test("a call saves by the cache when input was cached or money was saved", () => {
  const ended = (cachedInputTokens: number): CallEnding => ({
    status: "settled",
    failed: false,
    usage: { ...noUsage, cachedInputTokens },
    costMicroUsd: 1,
  });
  const spent = { usage: noUsage, costMicroUsd: 1 };
  expect(cacheSaving(ended(0), spent)).toBeUndefined();
  expect(cacheSaving(ended(0), { ...spent, cacheSavedMicroUsd: 0 })).toBeUndefined();
  expect(cacheSaving(ended(5), spent)).toEqual({ tokens: 5, microUsd: null });
  expect(cacheSaving(ended(5), { ...spent, cacheSavedMicroUsd: 3 })).toEqual({ tokens: 5, microUsd: 3 });
});

test("only a reservation that waits for the day may wait for a dead driver", () => {
  expect(mayBeHeldUpByTheDead({ kind: "wait", level: "day" })).toBe(true);
  expect(mayBeHeldUpByTheDead({ kind: "wait", level: "session" })).toBe(false);
  expect(mayBeHeldUpByTheDead({ kind: "exceeded", level: "day" })).toBe(false);
  expect(mayBeHeldUpByTheDead({ kind: "granted" })).toBe(false);
});
