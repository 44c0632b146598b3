import { expect, test } from "vitest";
import type { Entry } from "../../../src/journal/journal.ts";
import { personaOf, phaseOf } from "../../../src/journal/session-state.ts";
import { reduceEntries } from "./reduce-entries.ts";

const teamOf = (...names: string[]) => ({
  name: "t",
  phases: names.map((name) => ({ name, dependsOn: [], personas: [{ name: "p" }] })),
});

const changed = (names: readonly string[], reset: readonly string[]): Entry => ({
  kind: "team.changed",
  definition: teamOf(...names),
  teamFingerprint: names.join(),
  changes: [],
  reset,
});

const result = { summary: "done", outputs: {} };
const doneAndRemoved: readonly Entry[] = [
  { kind: "session.created", team: "t", definition: teamOf("a", "b"), teamFingerprint: "1", brief: "x" },
  { kind: "phase.started", phase: "b" },
  { kind: "attempt.started", phase: "b", persona: "p", round: 1, attempt: 1, input: "i" },
  { kind: "attempt.completed", started: 3, phase: "b", persona: "p", result },
  { kind: "phase.completed", phase: "b" },
  {
    kind: "checkpoint.sealed",
    phase: "b",
    revision: 1,
    sha256: "s",
    head: { seq: 5, hash: "5" },
    transitions: "t",
    steps: 0,
  },
  changed(["a"], []),
];

test("a removed phase is no phase of the session", () => {
  const state = reduceEntries(doneAndRemoved);
  expect([...state.phases.keys()]).toEqual([]);
  expect([...state.removed.keys()]).toEqual(["b"]);
});

test("a phase that is put back continues as a new revision", () => {
  const state = reduceEntries([...doneAndRemoved, changed(["a", "b"], ["b"])]);
  expect(state.removed.size).toBe(0);
  expect(phaseOf(state, "b")).toMatchObject({ status: "pending", revision: 2, checkpoint: undefined });
  expect(personaOf(state, "b", "p")).toMatchObject({ result: undefined, candidate: { input: "i", result } });
});

test("a phase that is put back without a reset starts from nothing", () => {
  const state = reduceEntries([...doneAndRemoved, changed(["a", "b"], [])]);
  expect(state.removed.size).toBe(0);
  expect(phaseOf(state, "b").revision).toBe(1);
  expect(personaOf(state, "b", "p")).toMatchObject({ attempts: [], candidate: undefined });
});
