import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { applyEvent } from "../../../src/cli/live/apply-event.ts";
import { frame } from "../../../src/cli/live/frame.ts";
import { type LiveSession, newLiveSession } from "../../../src/cli/live/live-state.ts";
import { progressLine } from "../../../src/cli/progress.ts";
import { Painter } from "../../../src/cli/terminal/painter.ts";
import { widthOf } from "../../../src/cli/terminal/width.ts";
import type { SessionEvent, UsageReport } from "../../../src/index.ts";
import { FactReader } from "../../../src/journal/fact-reader.ts";
import type { RecordedRow, Transition } from "../../../src/journal/journal.ts";
import { encodeEntry } from "../../../src/journal/journal-codec.ts";

const definition = {
  phases: [
    { name: "design", personas: [{ name: "architect" }] },
    { name: "build", personas: [{ name: "developer" }, { name: "writer" }] },
    { name: "test", personas: [{ name: "tester" }] },
  ],
};

interface Happened {
  readonly kind: string;
  readonly [name: string]: unknown;
}

const live: readonly string[] = ["log", "text", "step.began"];

/** The events of these rows, each written a second after the one before; live events pass as they are. */
function eventsOf(...rows: readonly Happened[]): readonly SessionEvent[] {
  const facts = new FactReader();
  return rows.map((entry, index) => {
    if (live.includes(entry.kind)) return { sessionId: "s", ...entry } as unknown as SessionEvent;
    const written = entry.kind.startsWith("step.") ? entry : encodeEntry(entry as unknown as Transition);
    const row = { seq: index + 1, epoch: 1, at: index * 1_000, hash: "", ...written };
    return { sessionId: "s", ...facts.read(row as unknown as RecordedRow) };
  });
}

const begun = [
  { kind: "session.created", team: "product", brief: "A parking app", model: "simulated", definition },
  { kind: "session.claimed", cause: "start", owner: "o" },
];

const told = (...rows: readonly Happened[]): LiveSession =>
  eventsOf(...begun, ...rows).reduce(applyEvent, newLiveSession("s"));

const wide = { columns: 100, rows: 30, color: false, live: true };
const of = (phase: string, persona: string) => ({ phase, persona, started: 8 });
/** A step of the developer's attempt, which the eighth row starts. */
const step = (name: string) => ({ kind: "step.tool", attempt: 8, name, body: "{}" });
const designDone = [
  { kind: "phase.started", phase: "design" },
  { kind: "attempt.started", phase: "design", persona: "architect", round: 1, attempt: 1, input: "i" },
  { kind: "attempt.completed", ...of("design", "architect"), result: { summary: "one design", outputs: {} } },
  { kind: "phase.completed", phase: "design", gate: { score: 1, threshold: 0.8, verdict: "passed" } },
  { kind: "phase.started", phase: "build" },
  { kind: "attempt.started", phase: "build", persona: "developer", round: 1, attempt: 1, input: "i" },
  { kind: "attempt.started", phase: "build", persona: "writer", round: 1, attempt: 1, input: "i" },
];

describe("the picture", () => {
  test("shows finished work, current activities, and phases to come", () => {
    const session = told(...designDone, step("write_file"));
    const lines = frame(session, wide, 9_000);
    expect(lines.map((line) => line.trimEnd().replaceAll(/ {2,}/g, "  "))).toEqual([
      "product · simulated model · A parking app  8.0 s",
      "✔ design architect · gate 1.00 of 0.80  3.0 s",
      "▶ build  3.0 s",
      "  ▶ developer · write_file  2.0 s",
      "  ▶ writer  · starts  1.0 s",
      "○ test",
      "Ctrl-C stops cleanly",
    ]);
  });

  test.each([
    ["check", "unit-tests", "checks unit-tests 3.0 s"],
    ["model", "openai/gpt-5", "asks openai/gpt-5 3.0 s"],
    ["command", "command/claude", "runs claude 3.0 s"],
    ["tool", "edit_file", "edit_file 3.0 s"],
  ])("says what is under way and for how long: a %s", (step, name, shown) => {
    const at = new Date(6_000).toISOString();
    const began = { kind: "step.began", persona: "developer", step, name, at };
    expect(frame(told(...designDone, began), wide, 9_000).join("\n")).toContain(`developer · ${shown}`);
  });

  test("counts down to the next attempt, and says why the last one failed", () => {
    const failed = {
      kind: "attempt.failed",
      ...of("build", "developer"),
      failure: { message: "connection reset" },
      next: { kind: "attempt", continues: true, wait: { notBefore: 14_000, waitMs: 5_000 } },
    };
    const line = frame(told(...designDone, failed), wide, 11_000).find((text) => text.includes("developer"));
    expect(line).toContain("◷ developer · retries in 3 s · connection reset");
  });

  test("counts down to the end of a wait, and forgets it when the work continues", () => {
    const body = JSON.stringify({ wait: { notBefore: 14_000, waitMs: 4_000 } });
    const wait = { ...step("sleep"), kind: "step.wait", body };
    const line = (now: number, ...more: readonly Happened[]) =>
      frame(told(...designDone, wait, ...more), wide, now).find((text) => text.includes("developer"));
    expect(line(11_000)).toContain("◷ developer · continues in 3 s · waits");
    expect(line(14_000)).toContain("▶ developer · continues now");
    expect(line(14_500, step("fetch"))).toContain("▶ developer · fetch");
    const [event] = eventsOf(...begun, ...designDone, wait).slice(-1);
    expect(event && progressLine(event)).toBe("  developer: waits: sleep (for 5.0 s)");
  });

  test("numbers attempts and rounds once there is more than one", () => {
    const again = {
      kind: "attempt.started",
      phase: "build",
      persona: "developer",
      round: 2,
      attempt: 3,
      input: "i",
    };
    expect(frame(told(...designDone, again), wide, 0).join("\n")).toContain("developer · round 2 attempt 3");
  });

  test("warns of an open breaker and of a budget that runs out, each once", () => {
    const waiting = {
      kind: "dependency.waiting",
      ...of("build", "developer"),
      dependency: "api",
      until: 60_000,
    };
    const of80 = { kind: "threshold", level: "session", name: "s", unit: "usd" };
    const alert = {
      kind: "budget.alerted",
      alert: { ...of80, limit: 1_000_000, used: 800_000, expected: null },
    };
    const text = frame(told(...designDone, waiting, waiting, alert), wide, 30_000).join("\n");
    expect(text).toContain("! budget of the session: $0.80 of $1.00 are gone");
    expect(text.match(/its breaker is open/g)).toHaveLength(1);
    expect(text).toContain("retries in 30 s · waits for api");
  });

  test("says at once that a persona is out of attempts, and of its phase that it failed", () => {
    const failure = { category: "UNKNOWN", message: "no" };
    const help = { kind: "attempt.failed", ...of("build", "developer"), failure, next: { kind: "help" } };
    const running = told(...designDone, help);
    expect(frame(running, wide, 0).join("\n")).toContain("! 1 persona needs you when this phase ends");
    const parked = told(...designDone, help, { kind: "session.status", status: "parked", reason: "help" });
    const text = frame(parked, wide, 0).join("\n");
    expect(text).toContain("✘ build");
    expect(text).not.toContain("needs you");
  });

  test("says of a phase that waits for a person that it does, and how the session ended", () => {
    const session = told(
      ...designDone.slice(0, 3),
      { kind: "phase.completed", phase: "design", awaitsReview: true },
      { kind: "session.status", status: "parked", reason: "review" },
    );
    const text = frame(session, wide, 0).join("\n");
    expect(text).toContain("? design architect · waiting for your review");
    expect(text).toContain("parked (review)");
    expect(text).not.toContain("Ctrl-C");
  });

  test("shows tokens, money and what was not paid again", () => {
    const totals = { inputTokens: 900, outputTokens: 100, costUsd: 0.0123, calls: 2, savedTokens: 5_000 };
    const usage = { total: totals, rows: [{ ...totals, name: "developer" }] } as unknown as UsageReport;
    const text = frame({ ...told(...designDone), usage }, wide, 0).join("\n");
    expect(text).toContain("1.0k tokens · $0.0123 at invented prices · 5.0k not paid again");
    expect(text).toMatch(/developer .* 1\.0k · \$0\.0123/);
  });

  test("a rejected phase is to come again", () => {
    const session = told(
      ...designDone.slice(0, 3),
      { kind: "phase.completed", phase: "design", awaitsReview: true },
      { kind: "signal.received", signal: { action: "reject", note: "no" }, sentAt: 0 },
    );
    expect(session.progress.phases[0]).toMatchObject({ status: "pending", review: "none" });
  });

  test("an event that was seen before changes nothing", () => {
    const session = told(...designDone);
    const [, , third] = eventsOf(...begun, { kind: "phase.started", phase: "test" });
    expect(third && applyEvent(session, third)).toBe(session);
  });
});

const many = Array.from({ length: 30 }, (_, index) => ({
  name: `phase${index}`,
  personas: [{ name: `p${index}` }],
}));

/** Thirty phases, and texts that are long and hostile. */
function crowded(): LiveSession {
  return eventsOf(
    { kind: "session.created", team: "日本語 team", brief: "x".repeat(500), definition: { phases: many } },
    { kind: "session.claimed", cause: "start", owner: "o" },
    { kind: "phase.started", phase: "phase20" },
    { kind: "attempt.started", phase: "phase20", persona: "p20", round: 1, attempt: 2, input: "i" },
    { kind: "log", persona: "p20", message: "a\u001b[2Jb\nc".repeat(50) },
  ).reduce(applyEvent, newLiveSession("s"));
}

describe("on any terminal", () => {
  const sizes = [1, 2, 7, 20, 40, 79, 200].flatMap((columns) =>
    [1, 2, 5, 15, 60].map((rows) => [columns, rows] as const),
  );

  test.each(sizes)("%d columns and %d rows: nothing wraps, nothing scrolls", (columns, rows) => {
    const lines = frame(crowded(), { columns, rows, color: true, live: true }, 1_000);
    expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
    for (const line of lines) {
      const text = stripVTControlCharacters(line);
      expect(widthOf(text)).toBeLessThanOrEqual(Math.max(1, columns - 1));
      expect(text).not.toMatch(/\p{Cc}/u);
    }
  });

  test.each([
    [20, 5],
    [40, 15],
    [200, 60],
  ])("%d columns and %d rows: of thirty phases, the one that runs is seen", (columns, rows) => {
    const lines = frame(crowded(), { columns, rows, color: false, live: true }, 1_000);
    expect(lines.join("\n")).toContain("p20");
  });

  test("says how many lines of which status are hidden, and keeps the active ones and the next phases", () => {
    const phases = Array.from({ length: 40 }, (_, index) => ({
      name: `phase${index}`,
      personas: [{ name: `p${index}` }],
    }));
    const done = (index: number): readonly Happened[] => [
      { kind: "phase.started", phase: `phase${index}` },
      { kind: "phase.completed", phase: `phase${index}` },
    ];
    const session = eventsOf(
      { kind: "session.created", team: "t", brief: "b", definition: { phases } },
      ...Array.from({ length: 15 }, (_, index) => done(index)).flat(),
      { kind: "phase.started", phase: "phase15" },
      { kind: "attempt.started", phase: "phase15", persona: "p15", round: 1, attempt: 1, input: "i" },
    ).reduce(applyEvent, newLiveSession("s"));
    const shown = (rows: number) =>
      frame(session, { ...wide, rows }, 0).map((line) => line.replace(/ +\d+(?:\.0)? s$/, ""));
    expect(shown(60).join("\n")).not.toContain("not shown");
    expect(shown(24)).toHaveLength(23);
    expect(shown(24).slice(14)).toEqual([
      "✔ phase13 p13",
      "✔ phase14 p14",
      "▶ phase15",
      "  ▶ p15 · starts",
      "○ phase16",
      "○ phase17",
      "○ phase18",
      "… not shown: 21 pending phases",
      "Ctrl-C stops cleanly",
    ]);
    expect(shown(8).slice(1)).toEqual([
      "✔ phase13 p13",
      "✔ phase14 p14",
      "▶ phase15",
      "  ▶ p15 · starts",
      "… not shown: 13 completed phases, 24 pending phases",
      "Ctrl-C stops cleanly",
    ]);
    expect(shown(4)).toEqual([
      "  ▶ p15 · starts",
      "… not shown: 15 completed phases, 1 running phase, 24 pending phases",
      "Ctrl-C stops cleanly",
    ]);
  });

  test("without color there is no escape sequence", () => {
    expect(frame(told(...designDone), wide, 0).join("")).not.toContain("\u001b");
  });
});

describe("the painter", () => {
  test("paints over what it painted, and knows that a narrower terminal has wrapped it", () => {
    let written = "";
    let columns = 20;
    const painter = new Painter({ write: (text) => (written += text) }, () => columns);
    painter.paint(["a".repeat(18), "b"]);
    written = "";
    painter.paint(["c"]);
    expect(written).toBe("\u001b[?2026h\u001b[2A\r\u001b[2Kc\n\u001b[J\u001b[?2026l");
    painter.paint(["d".repeat(18), "e"]);
    columns = 10;
    written = "";
    painter.paint(["f"]);
    expect(written.startsWith("\u001b[?2026h\u001b[3A\r")).toBe(true);
  });

  test("writes nothing when nothing has changed", () => {
    let writes = 0;
    const painter = new Painter({ write: () => (writes += 1) }, () => 80);
    painter.paint(["same"]);
    painter.paint(["same"]);
    expect(writes).toBe(1);
  });

  test("a line that stays comes above the picture", () => {
    let written = "";
    const painter = new Painter({ write: (text) => (written += text) }, () => 80);
    painter.paint(["picture"]);
    written = "";
    painter.say("notice");
    expect(written).toBe("\u001b[1A\r\u001b[Jnotice\n\u001b[?2026h\u001b[2Kpicture\n\u001b[J\u001b[?2026l");
  });
});
