import { describe, expect, test } from "vitest";
import type { Held, Situation } from "../../../dashboard/src/api/types.ts";
import { activityPhrase, heldPhrase, heldWord } from "../../../dashboard/src/sentences/activity.ts";
import { breakerCause, breakerNotice, whoWaits } from "../../../dashboard/src/sentences/breaker-text.ts";
import { backPhrase, lostPhrase } from "../../../dashboard/src/sentences/connection-text.ts";
import { plain } from "../../../dashboard/src/sentences/phrase.ts";
import { sessionSentence, situationPhrase } from "../../../dashboard/src/sentences/situation.ts";
import { gateWord, sessionWord, tabTitle } from "../../../dashboard/src/sentences/status-word.ts";
import { usage } from "./samples.ts";

const now = new Date(2026, 10, 15, 14, 31, 7).getTime();
const at = (seconds: number) => new Date(now + seconds * 1000).toISOString();

const retry: Held = { kind: "retry", notBefore: at(3), because: "typecheck failed, 2 errors" };
const breaker: Held = { kind: "breaker", dependency: "openai", probeAt: at(41) };
const writes = { doing: "writes", target: "src/payments/refund.ts", since: at(-10) } as const;

const lost = "Nothing is lost: 2 of 5 phases sealed, 35 steps recorded.";
const explanation = { lost, cost: "", why: null, todo: [], resume: null, needs: [], raise: null };

type Told = readonly [
  name: string,
  headline: string | null,
  situation: Situation,
  sentence: string,
  column: string,
];

const told: readonly Told[] = [
  [
    "queued",
    null,
    { kind: "queued", ahead: 0, places: 5, inUse: 5 },
    "Queued. Next in the queue, 5 of 5 places in use. Nothing needs you.",
    "Next in the queue, 5 of 5 places in use",
  ],
  [
    "running, held up",
    null,
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
    "Running implementation and security-review. 2 personas wait and continue by themselves. Nothing needs you.",
    "2 waiting · backend_developer writes src/payments/refund.ts",
  ],
  [
    "running, its process gone",
    "Its process died",
    { kind: "running", phases: ["design"], latest: null, held: [], driverDied: true },
    `Its process died. ${lost}`,
    "Its process died",
  ],
  [
    "parked for review",
    "design waits for review, gate 0.88 of 0.80",
    { kind: "review", phase: "design", filesChanged: 3, next: ["implementation"], calls: [] },
    `design waits for review, gate 0.88 of 0.80. ${lost}`,
    "design waits for review, gate 0.88 of 0.80, 3 files changed",
  ],
  [
    "parked for help",
    "backend_developer failed the check api-tests in 6 attempts",
    { kind: "help", phase: "implementation", persona: "backend_developer", personas: 1 },
    `backend_developer failed the check api-tests in 6 attempts. ${lost}`,
    "backend_developer failed the check api-tests in 6 attempts",
  ],
  [
    "parked for a breaker",
    "semgrep does not answer",
    { kind: "breaker", dependency: "semgrep", openedAt: at(-1800), failedProbes: 5, wakeAt: at(728) },
    `semgrep does not answer. ${lost} It resumes by itself in 12:08.`,
    "semgrep does not answer; breaker open for 30 m, 5 probes failed",
  ],
  [
    "completed, partly unverified",
    null,
    { kind: "completed", gatesPassed: 4, gates: 4, unverified: ["deployment"], resumes: 0 },
    "Completed. Unverified: deployment has no checks.",
    "unverified: deployment has no checks",
  ],
  [
    "completed",
    null,
    { kind: "completed", gatesPassed: 6, gates: 6, unverified: [], resumes: 2 },
    "Completed. 6 of 6 gates passed. Resumed 2 times.",
    "6 of 6 gates passed, resumed 2 times",
  ],
  [
    "completed without gates",
    null,
    { kind: "completed", gatesPassed: 0, gates: 0, unverified: [], resumes: 0 },
    "Completed.",
    "completed",
  ],
];

test.each(told)("a session that is %s", (_name, headline, situation, sentence, column) => {
  const view = { headline, situation, usage: usage(1), explanation };
  expect(plain(sessionSentence(view, now))).toBe(sentence);
  expect(plain(situationPhrase(view, now))).toBe(column);
});

test("a headline with control characters stays on one line of plain text", () => {
  const situation: Situation = { kind: "help", phase: "p", persona: "q", personas: 1 };
  const headline = "q needs help: \u001b[31m<b>no</b>\n\nplease\u202E";
  const view = { headline, situation, usage: usage(0), explanation };
  expect(plain(situationPhrase(view, now))).toBe("q needs help: <b>no</b> please\\u202e");
});

describe("the activity of a persona", () => {
  test("is in the present tense, and in the past tense while the connection is lost", () => {
    expect(plain(activityPhrase(writes))).toBe("writes src/payments/refund.ts");
    expect(plain(activityPhrase(writes, "past"))).toBe("was writing src/payments/refund.ts");
    expect(plain(heldPhrase(retry, now, "past"))).toBe("was to retry at 14:31:10");
    expect(plain(heldPhrase(breaker, now, "past"))).toBe("was waiting for openai");
  });

  test("names the reason and the end of a wait", () => {
    expect(plain(heldPhrase(retry, now))).toBe("Retries in 3 s. typecheck failed, 2 errors");
    expect(plain(heldPhrase(breaker, now))).toBe("Waits for openai. Probe in 0:41");
    expect(plain(heldPhrase({ kind: "rate-limit", dependency: "openai", notBefore: at(20) }, now))).toBe(
      "Waits for openai. Rate limit, continues in 20 s",
    );
    expect(heldWord({ kind: "reservation", level: "session" }, now)).toBe("Waits for budget");
  });
});

test("a lost connection names its time and the next try; a new one counts the events that were missed", () => {
  expect(plain(lostPhrase(now, now + 2000, now))).toBe(
    "Connection lost at 14:31:07. Sessions continue while the server runs. Trying again in 2 s.",
  );
  expect(plain(lostPhrase(now, null, now))).toContain("Trying now.");
  expect(plain(backPhrase(37, true))).toBe("Back. 37 events caught up, none missed. The server restarted.");
  expect(plain(backPhrase(null, false))).toBe("Back. Everything was read again.");
});

test("a breaker's notice names the sessions that wait and those that are parked", () => {
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
