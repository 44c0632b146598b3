import { describe, expect, test } from "vitest";
import type { Entry } from "../../../src/journal/journal.ts";
import { personaOf, phaseOf } from "../../../src/journal/session-state.ts";
import { reduceEntries } from "./reduce-entries.ts";

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

describe("an attempt under way when its phase is reset", () => {
  test("can still be completed", () => {
    const state = reduceEntries([
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

  test("ends when another one begins, which may reuse its paid steps but does not inherit them", () => {
    const state = reduceEntries([
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
    expect(state.running.get(7)?.replays.map(({ attempt }) => attempt)).toEqual([7]);
    expect(persona.leftover).toMatchObject([{ attempt: 3, until: 7, outages: false }]);
  });

  test("ends when an earlier result is reused instead", () => {
    const state = reduceEntries([
      ...underWay,
      { kind: "attempt.completed", started: 3, ...place, result },
      { kind: "phase.completed", phase: "a" },
      changed,
      { kind: "phase.started", phase: "a" },
      started(2, "other"),
      { kind: "persona.reused", ...place, input: "old" },
    ]);
    expect(state.running.size).toBe(0);
    expect(personaOf(state, "a", "p")).toMatchObject({
      result,
      reused: true,
      attempts: [{ status: "completed" }, { status: "failed", endedAt: 10 }],
    });
  });
});

test("an attempt that an outage ended is continued although its phase is reset", () => {
  const wait = { notBefore: 0, waitMs: 0 };
  const failure = { category: "NETWORK", message: "gone" } as never;
  const state = reduceEntries([
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
  expect(state.running.get(8)?.replays).toMatchObject([
    { attempt: 3, until: 5, outages: false },
    { attempt: 8, outages: true },
  ]);
});
