import { expect, test } from "vitest";
import type { SessionCard } from "../../../src/journal/session-card.ts";
import type { ParkReason, SessionStatus } from "../../../src/journal/standing.ts";
import { stopHeadline } from "../../../src/journal/stop-headline.ts";

const card: SessionCard = {
  brief: "b",
  owner: null,
  model: null,
  fork: null,
  isUntrusted: false,
  needsProgram: false,
  phases: [],
  phaseCount: 5,
  lastPhase: "design",
  checkpoints: 2,
  resumes: 0,
  direction: { only: false, until: false, pauseAfter: false },
  pausedBy: null,
  review: null,
  error: null,
  wakeAt: null,
  stopping: null,
  held: [],
  calls: [],
  exhausted: [],
  lastFailure: null,
  limit: {},
  raised: {},
};

const error = (details: Readonly<Record<string, string | number>>, message = "m") => ({
  error: { code: "X", message, details },
});
const failure = { phase: "build", persona: "dev", check: "api-tests" };
const budget = {
  level: "session",
  name: "s",
  unit: "usd",
  limit: 8_000_000,
  used: 7_890_000,
  asked: 420_000,
};

const headlines: readonly (readonly [
  SessionStatus,
  ParkReason | null,
  Partial<SessionCard>,
  string | null,
])[] = [
  ["queued", null, {}, null],
  [
    "running",
    null,
    { exhausted: [{ phase: "build", persona: "dev", next: "help" }], wakeAt: 0 },
    "1 persona needs you when this phase ends",
  ],
  ["running", null, { exhausted: [{ phase: "build", persona: "dev", next: "stop" }] }, null],
  [
    "running",
    null,
    { exhausted: ["build", "docs"].map((phase) => ({ phase, persona: "dev", next: "help" })) },
    "2 personas need you when their phases end",
  ],
  [
    "running",
    null,
    { exhausted: Array.from({ length: 50 }, (_, n) => ({ phase: "a", persona: `p${n}`, next: "help" })) },
    "At least 50 personas need you when this phase ends",
  ],
  ["running", null, {}, null],
  ["running", null, { stopping: "pause" }, "Pauses at its next step"],
  ["running", null, { stopping: "cancel" }, "Is canceled at its next step"],
  ["completed", null, {}, null],
  ["paused", null, { pausedBy: "person" }, "Paused by a person after design"],
  ["paused", null, { pausedBy: "interrupt" }, "Interrupted after design"],
  [
    "paused",
    null,
    { pausedBy: "direction", direction: { ...card.direction, until: true } },
    "Paused after design (--until)",
  ],
  ["paused", null, { pausedBy: "answer" }, "Answered by a person after design; waits for a resume"],
  ["paused", null, { pausedBy: "restore" }, "Restored from its checkpoints after design"],
  ["paused", null, { pausedBy: "refusal", lastPhase: null }, "Stopped before the first phase was completed"],
  ["canceled", null, {}, "Canceled after design"],
  [
    "failed",
    null,
    { ...error({}, "It wrote\n\nwhere it may not."), lastFailure: failure },
    "Failed in build: It wrote where it may not",
  ],
  ["failed", null, error({}, "x".repeat(500)), `Failed: ${"x".repeat(159)}…`],
  [
    "parked",
    "review",
    {
      review: { phase: "draft", gate: { score: 0.888, threshold: 0.8, verdict: "passed" } },
    },
    "draft waits for review, gate 0.89 of 0.80",
  ],
  [
    "parked",
    "help",
    { ...error({ persona: "dev", attempts: 6 }), lastFailure: failure },
    "dev failed the check api-tests in 6 attempts",
  ],
  [
    "parked",
    "help",
    {
      ...error({ persona: "dev", attempts: 1, message: "The price list is missing." }),
      lastFailure: { ...failure, check: null },
    },
    "dev needs help: The price list is missing",
  ],
  [
    "parked",
    "help",
    { ...error({ personas: 1_000 }), lastFailure: failure },
    "1,000 personas need help in build",
  ],
  ["parked", "help", error({}, "Recovered 6 times in a row."), "Recovered 6 times in a row"],
  ["parked", "budget", error(budget), "The next call needs up to $0.42; $0.11 of $8.00 is left"],
  [
    "parked",
    "budget",
    error({ level: "persona", name: "qa", unit: "tokens", limit: 40_000, used: 39_500, asked: 9_000 }),
    "The next call needs up to 9,000 tokens; 500 of 40,000 tokens are left for persona qa",
  ],
  ["parked", "budget", error({ level: "day" }, "The price is not known."), "The price is not known"],
  ["parked", "breaker", error({ dependency: "semgrep" }), "semgrep does not answer"],
];

test.each(headlines)(
  "the headline of a session that is %s %s with %j is %j",
  (status, reason, change, headline) => {
    expect(stopHeadline({ status, reason, card: { ...card, ...change } })).toBe(headline);
  },
);

test("a running session whose driver is gone says so", () => {
  expect(stopHeadline({ status: "running", card }, { abandoned: true })).toBe("Its process died");
});
