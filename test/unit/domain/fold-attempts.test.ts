import { describe, expect, test } from "vitest";
import type { Entry } from "../../../src/domain/journal.ts";
import { personaOf, phaseOf } from "../../../src/domain/session-state.ts";
import { foldEntries } from "./fold-entries.ts";

const definition = { name: "t", phases: [{ name: "a", dependsOn: [], personas: [{ name: "p" }] }] };
const place = { phase: "a", persona: "p" } as const;
const result = { summary: "done", outputs: {} };

const started = (round: number, input: string): Entry => ({
  kind: "attempt.started",
  ...place,
  round,
  attempt: 1,
  input,
});

const step = (attempt: number, fingerprint: string): Entry => ({
  kind: "step.function",
  attempt,
  name: "s",
  fingerprint,
  occurrence: 1,
  body: "{}",
});

/** Row 3 begins the attempt, row 4 is its first step. */
const underWay: readonly Entry[] = [
  { kind: "session.created", team: "t", definition, teamFingerprint: "1", brief: "x" },
  { kind: "phase.started", phase: "a" },
  started(1, "old"),
  step(3, "one"),
];

const changed: Entry = { kind: "team.changed", definition, teamFingerprint: "2", changes: [], reset: ["a"] };

describe("an attempt under way when its phase is gone through again", () => {
  test("can still be gone on with and completed, as journals have it", () => {
    const state = foldEntries([
      ...underWay,
      changed,
      { kind: "phase.started", phase: "a" },
      step(3, "two"),
      { kind: "attempt.completed", started: 3, ...place, result },
    ]);
    const { attempts, result: known, input } = personaOf(state, "a", "p");
    expect({ known, input }).toEqual({ known: result, input: "old" });
    expect(attempts).toMatchObject([{ status: "completed", endedAt: 8 }]);
    expect(state.running.size).toBe(0);
    expect(state.stepCount).toBe(2);
  });

  test("ends when another one begins, which finds its steps but does not inherit them", () => {
    const state = foldEntries([
      ...underWay,
      changed,
      { kind: "phase.started", phase: "a" },
      started(2, "new"),
    ]);
    const persona = personaOf(state, "a", "p");
    expect(persona.attempts).toMatchObject([
      { status: "failed", endedAt: 7, revision: 1 },
      { status: "running", revision: 2 },
    ]);
    expect([...state.running.keys()]).toEqual([7]);
    expect(state.running.get(7)?.steps.find("step.function", "one", 1)).toBeUndefined();
    expect(persona.leftover?.find("step.function", "one", 1)).toMatchObject({ seq: 4 });
  });

  test("ends when a result is taken over instead", () => {
    const state = foldEntries([
      ...underWay,
      changed,
      { kind: "persona.inherited", ...place, input: "new", result },
      { kind: "phase.started", phase: "a" },
      { kind: "persona.reused", ...place, input: "new" },
    ]);
    expect(state.running.size).toBe(0);
    expect(personaOf(state, "a", "p")).toMatchObject({
      result,
      attempts: [{ status: "failed", endedAt: 8 }],
    });
  });
});

test("an attempt that an outage ended is continued although its phase is gone through again", () => {
  const wait = { notBefore: 0, waitMs: 0 };
  const failure = { category: "NETWORK", message: "gone" } as never;
  const state = foldEntries([
    ...underWay,
    {
      kind: "attempt.failed",
      started: 3,
      ...place,
      failure,
      next: { kind: "attempt", wait, continues: true },
    },
    changed,
    { kind: "phase.started", phase: "a" },
    { ...started(2, "old"), continues: 3 } as Entry,
  ]);
  expect(phaseOf(state, "a").revision).toBe(2);
  expect(state.running.get(8)?.steps.find("step.function", "one", 1)).toMatchObject({ seq: 4 });
});
