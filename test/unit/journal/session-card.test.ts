import { expect, test } from "vitest";
import type { Transition } from "../../../src/journal/journal.ts";
import { encodeEntry } from "../../../src/journal/journal-codec.ts";
import { reduceCard } from "../../../src/journal/reduce.ts";
import { cardLimits, heldUntil, type SessionCard } from "../../../src/journal/session-card.ts";

const personas = [{ name: "worker" }];
const created: Transition = {
  kind: "session.created",
  team: "team",
  teamFingerprint: "f",
  brief: "b".repeat(5_000),
  definition: {
    name: "team",
    budget: { tokens: 100, usd: 1.5 },
    phases: [
      { name: "one", personas },
      { name: "two", personas },
      { name: "three", personas },
    ],
  },
};

function fold(...entries: Transition[]): SessionCard {
  let card: SessionCard | undefined;
  for (const [index, entry] of [created, ...entries].entries())
    card = reduceCard(card, { ...encodeEntry(entry), seq: index + 1 });
  if (card === undefined) throw new Error("no card");
  return card;
}

const place = { started: 3, phase: "one", persona: "worker" } as const;
const failure = {
  category: "UNKNOWN",
  severity: "low",
  message: "it did not work".repeat(100),
  source: "error",
  recoverable: true,
  outage: false,
  suggestedFix: "",
  error: { name: "Error", message: "no" },
} as const;
const begin: Transition = {
  kind: "attempt.started",
  phase: "one",
  persona: "worker",
  round: 1,
  attempt: 1,
  input: "i",
};
const fail = (notBefore: number): Transition => ({
  kind: "attempt.failed",
  ...place,
  failure,
  next: { kind: "attempt", wait: { notBefore, waitMs: 5 }, continues: false },
});
const statusesOf = ({ phases }: SessionCard) => phases.map(({ status }) => status);

test("a new session's card has the beginning of its brief, its phases and its limits", () => {
  const card = fold();
  expect(card.brief).toHaveLength(cardLimits.textLength);
  expect(card).toMatchObject({ phaseCount: 3, lastPhase: null, limit: { tokens: 100, microUsd: 1_500_000 } });
  expect(statusesOf(card)).toEqual(["pending", "pending", "pending"]);
});

test("phases begin, end, are taken over, sent back and edited", () => {
  const started: Transition = { kind: "phase.started", phase: "one", tree: "t0" };
  expect(statusesOf(fold(started))).toEqual(["running", "pending", "pending"]);
  const gate = { threshold: 0.5, score: 1, verdict: "passed" } as const;
  const reviewed: Transition = {
    kind: "phase.completed",
    phase: "one",
    tree: "t1",
    gate,
    awaitsReview: true,
  };
  const waiting = fold(started, begin, reviewed);
  expect(waiting).toMatchObject({ lastPhase: "one", review: { phase: "one", base: "t0", tree: "t1", gate } });
  const sent = { sentAt: 1, kind: "signal.received" } as const;
  expect(fold(started, begin, reviewed, { ...sent, signal: { action: "approve" } }).review).toBeNull();
  const rejected = fold(started, begin, reviewed, { ...sent, signal: { action: "reject", note: "no" } });
  expect([rejected.review, statusesOf(rejected)[0]]).toEqual([null, "pending"]);
  const edited = fold(started, begin, reviewed, { kind: "phase.edited", phase: "one", results: {} });
  expect([edited.review, statusesOf(edited)[0]]).toEqual([null, "completed"]);
  expect(statusesOf(fold(started, { kind: "phase.completed", phase: "one" }))[0], "no persona worked").toBe(
    "reused",
  );
});

test("a persona is held until its next try or the end of the session", () => {
  const held = fold(begin, fail(700));
  expect(held.held).toMatchObject([{ persona: "worker", until: 700, why: { kind: "retry" } }]);
  expect(heldUntil(held)).toBe(700);
  expect(fold(begin, fail(700), { ...begin, attempt: 2 }).held).toEqual([]);
  expect(fold(begin, fail(700), { kind: "session.status", status: "paused", by: "person" }).held).toEqual([]);
  const waits = fold(begin, { kind: "dependency.waiting", ...place, dependency: "api", until: 900 });
  expect(waits.held).toMatchObject([{ until: 900, why: { kind: "dependency", dependency: "api" } }]);
  const limited = { ...place, dependency: "api", until: 900, limit: "requests" } as const;
  expect(fold(begin, { kind: "dependency.waiting", ...limited }).held).toMatchObject([
    { why: { limit: "requests" } },
  ]);
  const result = { summary: "s", outputs: {} };
  const completed: Transition = { kind: "attempt.completed", ...place, result };
  expect(fold(begin, fail(700), { ...begin, attempt: 2 }, completed).held).toEqual([]);
});

test("a persona out of attempts is kept while others work, and its phase has failed when the session stops", () => {
  const help: Transition = { kind: "attempt.failed", ...place, failure, next: { kind: "help" } };
  const error = { name: "HelpNeeded", code: "HELP_NEEDED", message: "m" };
  const parked: Transition = { kind: "session.status", status: "parked", reason: "help", error };
  const out = fold(begin, help);
  expect([out.exhausted, statusesOf(out)[0]]).toEqual([
    [{ phase: "one", persona: "worker", next: "help" }],
    "running",
  ]);
  const paused = fold(begin, help, { kind: "session.status", status: "paused", by: "person" });
  expect([paused.exhausted.length, statusesOf(paused)[0]], "a pause grants no rounds").toEqual([1, "failed"]);
  const asked = fold(begin, help, parked);
  expect([asked.exhausted.length, statusesOf(asked)[0]]).toEqual([0, "failed"]);
  const resumed = fold(begin, help, parked, { kind: "session.claimed", cause: "resume", owner: "o" });
  expect([resumed.exhausted.length, statusesOf(resumed)[0]]).toEqual([0, "running"]);
  const stop: Transition = { kind: "attempt.failed", ...place, failure, next: { kind: "stop" } };
  expect(statusesOf(fold(begin, stop, { ...parked, reason: "budget" }))[0]).toBe("running");
  expect(statusesOf(fold(begin, stop, { kind: "session.status", status: "failed", error }))[0]).toBe(
    "failed",
  );
});

test("why it stopped is kept in short, and forgotten when it goes on", () => {
  const details = { phase: "one", failures: [{ deep: "list" }], attempts: 6, long: "x".repeat(10_000) };
  const error = { name: "HelpNeeded", code: "HELP_NEEDED", message: "m".repeat(10_000), details };
  const parked = fold({ kind: "session.status", status: "parked", reason: "help", error });
  expect(parked.error?.message).toHaveLength(cardLimits.messageLength);
  expect(parked.error?.details).toMatchObject({ phase: "one", attempts: 6 });
  expect(parked.error?.details).not.toHaveProperty("failures");
  const status: Transition = { kind: "session.status", status: "parked", reason: "help", error };
  const claim = (cause: "resume" | "signal"): Transition => ({ kind: "session.claimed", cause, owner: "o" });
  expect(fold(status, claim("resume"))).toMatchObject({ error: null, resumes: 1 });
  expect(fold(status, claim("signal")).error).not.toBeNull();
});

test("a person's limit stands above the team's, also above one that changed", () => {
  const said: Transition = {
    kind: "signal.received",
    sentAt: 1,
    signal: { action: "budget", level: "session", budget: { tokens: 7 } },
  };
  const changed: Transition = {
    kind: "team.changed",
    definition: { name: "team", budget: { usd: 3 }, phases: [{ name: "two", personas }] },
    teamFingerprint: "g",
    changes: [],
    reset: [],
  };
  const card = fold(said, changed);
  expect({ ...card.limit, ...card.raised }).toEqual({ microUsd: 3_000_000, tokens: 7 });
  expect(card.phaseCount).toBe(1);
});

test("however long a session is, its card stays short", () => {
  const phases = Array.from({ length: 1_000 }, (_, index) => ({ name: `phase-${index}`, personas }));
  let card = reduceCard(undefined, {
    ...encodeEntry({ ...created, definition: { name: "team", phases } }),
    seq: 1,
  });
  for (let count = 0; count < 500; count += 1) {
    const who = { phase: `phase-${count}`, persona: `p${count}`, started: count };
    card = reduceCard(card, { ...encodeEntry({ ...fail(count), ...who }), seq: 2 + count });
  }
  expect(card).toMatchObject({ phaseCount: 1_000 });
  expect(JSON.stringify(card).length).toBeLessThan(16_000);
});

test("rows that a card does not show, and steps, leave it as it is", () => {
  const card = fold();
  const silent: Transition[] = [
    { kind: "group.merged", phase: "one", group: 0 },
    { kind: "decision.recorded", title: "t", choice: "c", reason: "r", rejected: [] },
  ];
  for (const entry of silent) expect(reduceCard(card, { ...encodeEntry(entry), seq: 2 })).toBe(card);
  const step = { kind: "step.function", attempt: 3, body: "not JSON", seq: 2 };
  expect(reduceCard(card, step)).toBe(card);
});
