import { describe, expect, test } from "vitest";
import type { JournalEntry, StepBlock } from "../../../dashboard/src/api/types.ts";
import { announce, quietAnnouncer } from "../../../dashboard/src/live/announcements.ts";
import { applyChange } from "../../../dashboard/src/live/apply-change.ts";
import { mergeEntries } from "../../../dashboard/src/live/journal-tail.ts";
import { applyLive, type LivePersona, mergeBlocks } from "../../../dashboard/src/live/live-persona.ts";
import { markOf, pendingText, settle } from "../../../dashboard/src/session/pending.ts";
import { parkingOne } from "./samples.ts";

describe("a change of a session", () => {
  const view = parkingOne();
  const implementation = view.phases[2];
  const [first, second] = implementation?.personas ?? [];

  test("replaces the persona it names and leaves every other part as it is", () => {
    if (first === undefined || implementation === undefined) throw new Error("the sample has no persona");
    const next = applyChange(view, {
      session: { entries: 2000 },
      personas: [{ phase: "implementation", persona: { ...first, maxRounds: 99 } }],
    });
    expect(next.entries).toBe(2000);
    expect(next.phases[2]?.personas[0]?.maxRounds).toBe(99);
    expect(next.phases[2]?.personas[1]).toBe(second);
    expect(next.phases[0]).toBe(view.phases[0]);
    expect(view.phases[2]).toBe(implementation);
  });

  test("may bring budgets, decisions and files, each whole", () => {
    const budgets = view.budgets.map((budget) => ({ ...budget, limitUsd: 11 }));
    const next = applyChange(view, { budgets, decisions: [] });
    expect(next).toMatchObject({ budgets, decisions: [], artifacts: view.artifacts });
    expect(next.phases).toBe(view.phases);
  });

  test("of a phase's head keeps its personas", () => {
    if (implementation === undefined) throw new Error("the sample has no phase");
    const { personas: _personas, ...head } = implementation;
    const next = applyChange(view, { phases: [{ ...head, status: "completed" }] });
    expect(next.phases[2]).toMatchObject({ status: "completed", personas: implementation.personas });
  });

  test("may bring phases and personas that were not planned, and ignores those of unknown phases", () => {
    if (first === undefined || implementation === undefined) throw new Error("the sample has no persona");
    const { personas: _personas, ...head } = implementation;
    const next = applyChange(view, {
      phases: [{ ...head, name: "repair" }],
      personas: [
        { phase: "repair", persona: { ...first, name: "healer" } },
        { phase: "nowhere", persona: first },
      ],
    });
    expect(next.phases.at(-1)).toMatchObject({ name: "repair", personas: [{ name: "healer" }] });
    expect(next.phases).toHaveLength(6);
  });
});

test("journal entries that are replayed twice stand in the list once, newest first", () => {
  const place = { at: "", phase: null, persona: null, round: null, attempt: null, started: null };
  const entry = (seq: number): JournalEntry => ({ seq, kind: "phase.started", ...place });
  const known = mergeEntries([], [entry(1), entry(2)]);
  expect(mergeEntries(known, [entry(2), entry(4), entry(3), entry(4)]).map(({ seq }) => seq)).toEqual([
    4, 3, 2, 1,
  ]);
});

describe("live text", () => {
  const start: LivePersona = { place: "p/q", blocks: [], writing: null };
  const text = (delta: string, call = "model#1") => ({
    phase: "p",
    persona: "q",
    delta,
    call,
    outputTokens: 1,
    startedAt: "",
  });
  const block = (seq: number, status: "running" | "passed"): StepBlock => ({
    kind: "tool",
    seq,
    at: "",
    tool: "t",
    doing: null,
    target: "",
    outcome: "",
    status,
    output: null,
  });

  test("of one call is joined; the recorded step replaces it", () => {
    const writing = applyLive(start, [text("a"), text("b")], []);
    expect(writing.writing?.text).toBe("ab");
    const recorded = applyLive(writing, [], [{ phase: "p", persona: "q", block: block(5, "passed") }]);
    expect(recorded).toMatchObject({ writing: null, blocks: [{ seq: 5 }] });
  });

  test("of the next call starts afresh, and of another persona is left out", () => {
    const writing = applyLive(start, [text("a"), text("b", "model#2")], []);
    expect(writing.writing?.text).toBe("b");
    expect(applyLive(start, [{ ...text("x"), persona: "other" }], [])).toBe(start);
  });

  test("a tool's outcome takes the place of the running tool", () => {
    const blocks = mergeBlocks(
      [block(1, "passed"), block(2, "running")],
      [block(2, "passed"), block(3, "running")],
    );
    expect(blocks.map((each) => (each.kind === "tool" ? `${each.seq} ${each.status}` : ""))).toEqual([
      "1 passed",
      "2 passed",
      "3 running",
    ]);
  });

  test("keeps the newest 2,000 blocks and 200,000 characters, however long it runs", () => {
    const many = Array.from({ length: 2500 }, (_, seq) => block(seq, "passed"));
    expect(mergeBlocks([], many)).toHaveLength(2000);
    const long = applyLive(start, [text("x".repeat(300_000))], []);
    expect(long.writing?.text).toHaveLength(200_000);
  });
});

describe("announcements", () => {
  const quiet = (text: string) => ({ text, urgent: false });

  test("are merged and spoken at most every 5 s", () => {
    const first = announce(quietAnnouncer, [quiet("a.")], 0);
    expect(first.say).toBe("a.");
    const second = announce(first.state, [quiet("b."), quiet("c.")], 1000);
    expect(second).toMatchObject({ say: undefined, againInMs: 4000 });
    expect(announce(second.state, [], 5000).say).toBe("b. c.");
  });

  test("of what needs a person are spoken at once", () => {
    const first = announce(quietAnnouncer, [quiet("a.")], 0);
    expect(announce(first.state, [{ text: "x: Parked for help.", urgent: true }], 10).say).toBe(
      "x: Parked for help.",
    );
  });

  test("name the newest three and count the rest", () => {
    const many = Array.from({ length: 10 }, (_, index) => quiet(`${index}.`));
    expect(announce(quietAnnouncer, many, 0).say).toBe("7. 8. 9. And 7 more.");
  });
});

test("a request counts as received when the session has changed, and says so after 5 s of silence", () => {
  const parked = { status: "parked", since: "a", limitUsd: 8 } as const;
  const waiting = { kind: "waiting", label: "Resuming…", since: 0, was: markOf(parked) } as const;
  expect(settle(waiting, parked)).toBe(waiting);
  expect(settle(waiting, { ...parked, status: "running", since: "b" })).toEqual({ kind: "none" });
  expect(pendingText(waiting, 4999)).toBe("Resuming…");
  expect(pendingText(waiting, 5000)).toBe("Resuming… Still waiting for the server.");
});
