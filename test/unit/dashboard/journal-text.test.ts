import { expect, test } from "vitest";
import type { EntryFact, JournalEntry } from "../../../dashboard/src/api/types.ts";
import { journalLine, matchesFilter } from "../../../dashboard/src/sentences/journal-text.ts";
import { failureFact } from "./samples.ts";

const place = {
  seq: 7,
  at: "2026-11-15T14:31:06.000Z",
  phase: "implementation",
  persona: "backend_developer",
  round: 1,
  attempt: 2,
  started: 3,
};
const entry = (fact: EntryFact): JournalEntry => ({ ...place, ...fact });

const created: EntryFact = {
  kind: "session.created",
  team: "product",
  brief: "A parking app",
  model: null,
  phases: [],
  given: [],
};

const failed: EntryFact = {
  kind: "attempt.failed",
  failure: failureFact("check typecheck exit 2: TS2345"),
  next: "help",
  stuck: false,
  notBefore: null,
  waitMs: null,
  healing: [],
  settings: null,
  putBack: null,
};

test.each<[EntryFact, string, string]>([
  [{ kind: "budget.reserved", call: "model#9", usd: 0.09, tokens: 9000 }, "model#9 reserved $0.09", ""],
  [
    { kind: "budget.reserved", call: "model#9", usd: null, tokens: 9000 },
    "model#9 reserved 9,000 tokens",
    "",
  ],
  [
    {
      kind: "budget.settled",
      call: "model#8",
      usd: 0.11,
      inputTokens: 6200,
      outputTokens: 1100,
      estimated: false,
      tookMs: 14_200,
    },
    "model#8 settled $0.11, 6,200 tokens in, 1,100 out",
    "14.2 s",
  ],
  [
    {
      kind: "step",
      step: "check",
      name: "unit",
      passed: true,
      outcome: "passed, 41 of 41",
      tookMs: 8400,
      until: null,
    },
    "check unit passed, 41 of 41",
    "8.4 s",
  ],
  [failed, "attempt failed: check typecheck exit 2: TS2345, no attempts left", ""],
  [
    { kind: "session.claimed", cause: "recovery", epoch: 2 },
    "taken over from a process that died, lease epoch 2",
    "",
  ],
  [{ kind: "group.merged" }, "merged the files of its personas", ""],
  [{ kind: "phase.edited" }, "edited by a person", ""],
  [{ kind: "session.forked", kept: ["design"] }, "forked, reuses design from the forked session", ""],
  [{ kind: "persona.reused" }, "reused its result: its inputs have not changed", ""],
  [{ kind: "team.changed", changes: ["persona a"], phases: [], reset: [] }, "team changed: persona a", ""],
  [
    { kind: "session.directed", only: ["design"], from: null, until: null, pauseAfter: ["design"] },
    "directed to run only design, to pause after design",
    "",
  ],
])("%o is told in one line", (fact, text, measure) => {
  expect(journalLine(entry(fact))).toMatchObject({
    place: "implementation/backend_developer/r1a2",
    text,
    measure,
  });
});

test("the session's own entries are told under session", () => {
  const first = {
    ...entry(created),
    phase: null,
    persona: null,
    round: null,
    attempt: null,
  };
  expect(journalLine(first).place).toBe("session");
});

test("an entry of a newer server is shown by its name instead of breaking the list", () => {
  const unknown = { ...place, kind: "moon.landed" } as unknown as JournalEntry;
  expect(journalLine(unknown).text).toBe("moon.landed");
  expect(matchesFilter(unknown, "all")).toBe(true);
});

test("filters: failures are failed attempts and failed steps, money is what was reserved and settled", () => {
  const step = (passed: boolean) =>
    entry({ kind: "step", step: "tool", name: "x", passed, outcome: "", tookMs: null, until: null });
  expect([failed, created].map((fact) => matchesFilter(entry(fact), "failures"))).toEqual([true, false]);
  expect([step(true), step(false)].map((each) => matchesFilter(each, "failures"))).toEqual([false, true]);
  // Money is read from the ledger, whose calls have numbers of their own.
  expect(matchesFilter(entry({ kind: "budget.reserved", call: "m", usd: 1, tokens: 1 }), "money")).toBe(
    false,
  );
  expect(matchesFilter(step(true), "transitions")).toBe(false);
});
