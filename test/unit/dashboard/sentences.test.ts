import { describe, expect, test } from "vitest";
import type { Held, SessionRow, Situation } from "../../../dashboard/src/api/types.ts";
import { activityPhrase, heldPhrase, heldWord } from "../../../dashboard/src/sentences/activity.ts";
import { breakerCause, breakerNotice, whoWaits } from "../../../dashboard/src/sentences/breaker-text.ts";
import { backPhrase, lostPhrase } from "../../../dashboard/src/sentences/connection-text.ts";
import { plain } from "../../../dashboard/src/sentences/phrase.ts";
import { sessionSentence } from "../../../dashboard/src/sentences/session-sentence.ts";
import { situationPhrase } from "../../../dashboard/src/sentences/situation.ts";
import { gateWord, sessionWord, tabTitle } from "../../../dashboard/src/sentences/status-word.ts";
import { usage } from "./samples.ts";

const now = new Date(2026, 10, 15, 14, 31, 7).getTime();
const at = (seconds: number) => new Date(now + seconds * 1000).toISOString();
const passed = { threshold: 0.8, score: 0.88, verdict: "passed" } as const;

const retry: Held = { kind: "retry", notBefore: at(3), because: "typecheck failed, 2 errors" };
const breaker: Held = { kind: "breaker", dependency: "openai", probeAt: at(41) };
const writes = { doing: "writes", target: "src/payments/refund.ts", since: at(-10) } as const;

/** One of each: what is said above the run, and what the list says in its column. */
const templates: readonly (readonly [
  name: string,
  situation: Situation,
  sentence: string,
  column: string,
])[] = [
  [
    "queued",
    { kind: "queued", ahead: 0, places: 5, inUse: 5 },
    "Queued. It is next; 5 of 5 places are in use. Nothing needs you.",
    "next in the queue, 5 of 5 places in use",
  ],
  [
    "running, held up",
    {
      kind: "running",
      phases: ["implementation", "security-review"],
      latest: { persona: "backend_developer", activity: writes },
      held: [
        { persona: "a", held: retry },
        { persona: "b", held: breaker },
      ],
      driverDied: false,
    },
    "Running implementation and security-review. 2 personas wait; both go on by themselves. Nothing needs you.",
    "2 waiting · backend_developer writes src/payments/refund.ts",
  ],
  [
    "running, its process gone",
    { kind: "running", phases: ["design"], latest: null, held: [], driverDied: true },
    "Its process ended without a word. Recorded work is kept; it is taken up again by itself. Nothing needs you.",
    "its process ended; it is taken up again",
  ],
  [
    "paused",
    { kind: "paused", after: "design", how: "until" },
    "Paused after design, as asked. Nothing runs or spends until it is resumed.",
    "stopped after design, as asked (--until design)",
  ],
  [
    "parked for review",
    { kind: "review", phase: "design", gate: passed, filesChanged: 3, next: ["implementation"] },
    "design waits for your review, gate 0.88 of 0.80. implementation runs after it.",
    "design is ready: 3 files changed, gate 0.88 of 0.80",
  ],
  [
    "parked for help",
    {
      kind: "help",
      phase: "implementation",
      persona: "backend_developer",
      check: "api-tests",
      message: "x",
      personas: 1,
      attempts: 6,
      maxAttempts: 6,
    },
    "backend_developer could not pass the check api-tests. All 6 attempts are used. Nothing runs until a person resumes it.",
    "backend_developer: api-tests failed, 6 of 6 attempts",
  ],
  [
    "parked for help that was asked for at once",
    {
      kind: "help",
      phase: "import",
      persona: "importer",
      check: null,
      message: "The price list is missing.",
      personas: 1,
      attempts: 1,
      maxAttempts: 1,
    },
    "importer could not go on: The price list is missing. Nothing runs until a person resumes it.",
    "importer: The price list is missing",
  ],
  [
    "parked for help that several need",
    {
      kind: "help",
      phase: "build",
      persona: "p907",
      check: null,
      message: "10 personas need help. p7 needs help in phase build after 6 attempts.",
      personas: 10,
      attempts: 0,
      maxAttempts: 6,
    },
    "10 personas need help in build. Nothing runs until a person resumes it.",
    "10 personas need help in build",
  ],
  [
    "parked for budget",
    {
      kind: "budget",
      level: "session",
      unit: "usd",
      asked: 0.42,
      used: 7.89,
      limit: 8,
      phase: null,
      persona: null,
      attempt: null,
    },
    "The next call needs up to $0.42. $0.11 is left of $8.00. Nothing was overspent.",
    "next call needs up to $0.42, $0.11 is left",
  ],
  [
    "parked for a breaker",
    { kind: "breaker", dependency: "semgrep", openedAt: at(-1800), failedProbes: 5, wakeAt: at(728) },
    "semgrep has not answered for 30 m. 5 probes failed. It is taken up again by itself in 12:08.",
    "semgrep stayed open for 30 m, 5 probes failed",
  ],
  [
    "completed, partly unverified",
    { kind: "completed", gatesPassed: 4, gates: 4, unverified: ["deployment"], resumes: 0 },
    "Completed. 1 phase unverified: deployment has no checks.",
    "1 phase unverified · deployment has no checks",
  ],
  [
    "completed",
    { kind: "completed", gatesPassed: 6, gates: 6, unverified: [], resumes: 2 },
    "Completed. 6 of 6 gates passed. Resumed 2 times.",
    "6 of 6 gates passed, resumed twice",
  ],
  [
    "failed",
    {
      kind: "failed",
      phase: "implementation",
      message: "the team has changed",
      gate: null,
      acceptChanges: true,
    },
    "Failed in implementation: the team has changed. Nothing is running or spending.",
    "implementation: the team has changed",
  ],
  [
    "failed at its gate",
    {
      kind: "failed",
      phase: "implementation",
      message: "gate",
      gate: { threshold: 0.7, score: 0.52, verdict: "failed" },
      acceptChanges: false,
    },
    "Failed in implementation: gate. Nothing is running or spending.",
    "implementation: gate 0.52 of 0.70, not reached",
  ],
  [
    "canceled",
    { kind: "canceled", after: "design", checkpoints: 2 },
    "Canceled. Stopped after design. 2 checkpoints kept; a fork can go on from them.",
    "canceled after design, 2 checkpoints kept",
  ],
];

test.each(templates)("%s", (_name, situation, sentence, column) => {
  const row: Pick<SessionRow, "situation" | "usage"> = { situation, usage: usage(1) };
  expect(plain(sessionSentence(row, now))).toBe(sentence);
  expect(plain(situationPhrase(row, now))).toBe(column);
});

test("every kind of situation has its template", () => {
  const kinds = [
    "queued",
    "running",
    "paused",
    "review",
    "help",
    "budget",
    "breaker",
    "completed",
    "failed",
    "canceled",
  ];
  expect([...new Set(templates.map(([, { kind }]) => kind))].sort()).toEqual(kinds.sort());
});

test("no sentence shouts, apologizes or congratulates", () => {
  for (const [, situation] of templates) {
    const said = plain(sessionSentence({ situation, usage: usage(1) }, now));
    expect(said).not.toMatch(/!|oops|success|sorry/i);
    expect(said).toMatch(/\.$/);
  }
});

test("hostile words of others stay on one line and end like a sentence", () => {
  const situation: Situation = {
    kind: "help",
    phase: "p",
    persona: "q",
    check: null,
    message: "\u001b[31m<b>no</b>\n\nplease\u202E",
    personas: 1,
    attempts: 2,
    maxAttempts: 6,
  };
  expect(plain(sessionSentence({ situation, usage: usage(0) }, now))).toBe(
    "q could not go on: <b>no</b> please\\u202e. 2 of 6 attempts are used. Nothing runs until a person resumes it.",
  );
});

test("a budget in tokens is told in tokens", () => {
  const situation: Situation = {
    kind: "budget",
    level: "persona implementation/qa",
    unit: "tokens",
    asked: 9000,
    used: 39_500,
    limit: 40_000,
    phase: null,
    persona: null,
    attempt: null,
  };
  expect(plain(sessionSentence({ situation, usage: usage(0) }, now))).toBe(
    "The next call needs up to 9,000 tokens. 500 tokens are left of 40,000 tokens for the persona implementation/qa. Nothing was overspent.",
  );
});

describe("what a persona does", () => {
  test("now, and while the connection is lost in the past tense", () => {
    expect(plain(activityPhrase(writes))).toBe("writes src/payments/refund.ts");
    expect(plain(activityPhrase(writes, "past"))).toBe("was writing src/payments/refund.ts");
    expect(plain(heldPhrase(retry, now, "past"))).toBe("was to retry at 14:31:10");
    expect(plain(heldPhrase(breaker, now, "past"))).toBe("was waiting for openai");
  });

  test("held-up work says why and until when", () => {
    expect(plain(heldPhrase(retry, now))).toBe("Retries in 3 s. typecheck failed, 2 errors");
    expect(plain(heldPhrase(breaker, now))).toBe("Waits for openai. Probe in 0:41");
    expect(plain(heldPhrase({ kind: "rate-limit", dependency: "openai", notBefore: at(20) }, now))).toBe(
      "Waits for openai. Rate limit, goes on in 20 s",
    );
    expect(heldWord({ kind: "reservation", level: "session" }, now)).toBe("Waits for budget");
  });
});

test("a lost connection names its time and the next try; being back names what was caught up", () => {
  expect(plain(lostPhrase(now, now + 2000, now))).toBe(
    "Connection lost at 14:31:07. Sessions go on as long as the server runs. Trying again in 2 s.",
  );
  expect(plain(lostPhrase(now, null, now))).toContain("Trying now.");
  expect(plain(backPhrase(37, true))).toBe("Back. 37 events caught up, none missed. The server restarted.");
  expect(plain(backPhrase(null, false))).toBe("Back. Everything was read again.");
});

test("a breaker's notice names who waits and who is parked", () => {
  const waiter = (key: string, parked: boolean) => ({ id: key, key, phase: null, persona: null, parked });
  const open = {
    name: "openai",
    state: "open",
    failures: 5,
    threshold: 5,
    openedAt: at(-336),
    probeAt: at(41),
    failedProbes: 0,
    notBefore: null,
    cooldownMs: 300_000,
    waiting: [waiter("parking-1", false)],
  } as const;
  expect(plain(breakerNotice(open, now))).toBe("Breaker openai: next probe in 0:41, parking-1 waits.");
  expect(breakerCause(open)).toBe("5 of 5 outages since 14:25:31");
  expect(whoWaits([waiter("a", true), waiter("b", false), waiter("c", false)])).toBe(
    "b and c wait, a is parked",
  );
  expect(whoWaits(["a", "b", "c"].map((key) => waiter(key, false)))).toBe("3 sessions wait");
});

test("status words: parked says its reason, a gate without checks is never called passed", () => {
  expect(sessionWord("parked", "help")).toMatchObject({ word: "Parked", reason: "help", tone: "parked" });
  expect(tabTitle("parked", "help", "parking-payments")).toBe("Parked: help · parking-payments");
  expect(gateWord({ threshold: null, score: null, verdict: "unverified" })).toMatchObject({
    icon: "unverified",
    tone: "quiet",
  });
  expect(gateWord({ threshold: 0.7, score: 0.52, verdict: "failed" })).toMatchObject({
    word: "0.52 of 0.70",
    tone: "failed",
  });
});
