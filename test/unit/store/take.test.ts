import { describe, expect, test } from "vitest";
import type { SessionId } from "../../../src/domain/ids.ts";
import { limitsOf, RunningCounts, type SessionLimits } from "../../../src/store/decisions/limits.ts";
import { inTurn, type Waiting } from "../../../src/store/decisions/take.ts";

const waiting = (id: string, over: Partial<Waiting> = {}): Waiting => ({
  id: id as SessionId,
  team: "team",
  model: undefined,
  queue: "default",
  priority: 0,
  wakeAt: 0,
  isAbandoned: false,
  isSuspect: false,
  recoveries: 0,
  ...over,
});

/** The ids in the order of their turns, when all that `accepts` says are taken. */
function order(
  sessions: readonly Waiting[],
  {
    limits = {},
    running = [],
    accepts = () => true,
    onProbation = [],
  }: {
    readonly limits?: SessionLimits;
    readonly running?: readonly Waiting[];
    readonly accepts?: (id: string) => boolean;
    readonly onProbation?: readonly string[];
  } = {},
): string[] {
  const counts = new RunningCounts();
  for (const session of running) counts.add(session);
  const suspects = new Set(onProbation as SessionId[]);
  const taken: string[] = [];
  const turns = inTurn(sessions, counts, limits, suspects);
  for (let turn = turns.next(); turn.done !== true; ) {
    const isTaken = accepts(turn.value.id);
    if (isTaken) taken.push(turn.value.id);
    if (isTaken && turn.value.isSuspect) suspects.add(turn.value.id);
    turn = turns.next(isTaken);
  }
  return taken;
}

describe("the order of turns", () => {
  test("is abandoned, then priority, then the team with fewest running sessions, then the longest wait", () => {
    const sessions = [
      waiting("late", { wakeAt: 9 }),
      waiting("early", { wakeAt: 1 }),
      waiting("urgent", { priority: 5, wakeAt: 9 }),
      waiting("other team", { team: "other", wakeAt: 8 }),
      waiting("abandoned", { isAbandoned: true, priority: -5 }),
    ];
    expect(order(sessions, { running: [waiting("runs")] })).toEqual([
      "abandoned",
      "urgent",
      "other team",
      "early",
      "late",
    ]);
  });

  test("alternates between teams that wait with many sessions each", () => {
    const sessions = [1, 2, 3].flatMap((number) => [
      waiting(`a${number}`, { team: "a", wakeAt: number }),
      waiting(`b${number}`, { team: "b", wakeAt: 10 + number }),
    ]);
    expect(order(sessions)).toEqual(["a1", "b1", "a2", "b2", "a3", "b3"]);
  });

  test("gives abandoned sessions that were recovered most last among them", () => {
    const sessions = [
      waiting("thrice", { isAbandoned: true, recoveries: 3 }),
      waiting("never", { isAbandoned: true, wakeAt: 5 }),
      waiting("due"),
    ];
    expect(order(sessions)).toEqual(["never", "thrice", "due"]);
  });

  test("does not count a session that was not taken", () => {
    const sessions = [waiting("first", { wakeAt: 1 }), waiting("second", { wakeAt: 2 })];
    const limits = { teams: { team: 1 } };
    expect(order(sessions, { limits, accepts: (id) => id !== "first" })).toEqual(["second"]);
  });

  test("gives one suspect, the one that was recovered least, and all sessions that are none", () => {
    const suspect = (id: string, recoveries: number) =>
      waiting(id, { isAbandoned: true, isSuspect: true, recoveries });
    const sessions = [suspect("once", 1), suspect("never", 0), suspect("never either", 0), waiting("due")];
    expect(order([...sessions, waiting("released", { isAbandoned: true })])).toEqual([
      "never",
      "released",
      "due",
    ]);
  });

  test("gives the next suspect in place of one that was not taken", () => {
    const sessions = ["refused", "next"].map((id) => waiting(id, { isAbandoned: true, isSuspect: true }));
    expect(order(sessions, { accepts: (id) => id !== "refused" })).toEqual(["next"]);
  });

  test("leaves out suspects while one of this process has recorded nothing new", () => {
    const suspect = waiting("suspect", { isAbandoned: true, isSuspect: true });
    expect(order([suspect, waiting("due")], { onProbation: ["another"] })).toEqual(["due"]);
  });
});

describe("the limits of a session", () => {
  test("are those of its team, its model and its queue", () => {
    const limits = { teams: { team: 2, other: 1 }, models: { m: 3 }, queues: { default: 4, night: 1 } };
    expect(limitsOf(waiting("s", { model: "m" }), limits)).toEqual([
      { kind: "team", name: "team", most: 2 },
      { kind: "model", name: "m", most: 3 },
      { kind: "queue", name: "default", most: 4 },
    ]);
    expect(
      limitsOf(waiting("s", { team: "toString", queue: "constructor" }), { teams: {}, queues: {} }),
    ).toEqual([]);
  });
});
