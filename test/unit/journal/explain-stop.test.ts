import { describe, expect, test } from "vitest";
import { advise } from "../../../src/domain/advice.ts";
import { type ErrorJson, toErrorJson } from "../../../src/domain/error-json.ts";
import {
  BudgetExceeded,
  CircuitOpen,
  GovernanceViolation,
  HelpNeeded,
  SetupFailed,
} from "../../../src/domain/errors.ts";
import { failureTable } from "../../../src/domain/failure.ts";
import { explainStop, type StoppedSession } from "../../../src/journal/explain-stop.ts";

const phase = (name: string, change: Partial<StoppedSession["phases"][number]> = {}) => ({
  name,
  status: "pending",
  review: "none" as const,
  putBack: [],
  gate: null,
  checkpoint: null,
  personas: [],
  ...change,
});

const usage = {
  inputTokens: 900,
  outputTokens: 100,
  costUsd: 2.5,
  calls: 4,
  savedTokens: 0,
  savedUsd: 0,
  estimatedUsd: 0,
  reservedUsd: 0,
  cacheDiscountUsd: 0,
  estimatedTokens: 0,
  simulatedEstimatedTokens: 0,
  simulatedCalls: 0,
  simulatedUsd: 0,
};

const session = (change: Partial<StoppedSession>): StoppedSession => ({
  id: "s_1",
  key: "parking",
  status: "parked",
  reason: "help",
  pausedBy: null,
  direction: {},
  error: null,
  wakeAt: null,
  needsProgram: false,
  simulated: false,
  steps: 7,
  phases: [
    phase("design", { status: "completed", checkpoint: {} }),
    phase("build", { status: "running", personas: [{ status: "completed" }, { status: "failed" }] }),
  ],
  usage,
  budgets: [],
  effects: [],
  waiting: [],
  ...change,
});

const help = (persona: string, details: Readonly<Record<string, string[]>> = {}): ErrorJson =>
  toErrorJson(
    new HelpNeeded(
      `${persona} needs help in phase build after 6 attempts. The last one failed: no ${persona}`,
      {
        details: { phase: "build", persona, attempts: 6, message: `no ${persona}`, ...details },
        advice: "Read the failures.",
      },
    ),
  );

describe("a session that stopped", () => {
  test("for review names the protected files that a persona changed", () => {
    const putBack = ["test/a.test.js", "package.json#scripts"].map((path) => ({ persona: "dev", path }));
    const waiting = phase("build", { status: "completed", review: "awaiting", putBack });
    expect(explainStop(session({ reason: "review", phases: [waiting] })).why).toBe(
      "Phase build waits for review. Protected files that dev changed were put back: test/a.test.js, package.json#scripts.",
    );
  });

  test("counts what is kept and says that nothing is spent", () => {
    const { lost, cost, resume } = explainStop(session({ error: help("dev") }));
    expect(lost).toBe("Nothing is lost: 1 of 2 phases sealed, 1 finished persona kept, 7 steps recorded.");
    expect(cost).toBe("Nothing is running or spending. Cost: 1,000 tokens in 4 calls, $2.50.");
    expect(resume).toEqual(advise("Resume with", "resume", "parking"));
  });

  test("after calls without reported usage says on a line of its own what was perhaps paid, and of simulated ones that nothing was", () => {
    const costOf = (more: object) => explainStop(session({ usage: { ...usage, ...more } })).cost.split("\n");
    const [cost, lost, ...rest] = costOf({ estimatedTokens: 1_200 });
    expect(cost).toBe("Nothing is running or spending. Cost: 1,000 tokens in 4 calls, $2.50.");
    expect(lost).toBe(
      "Perhaps paid besides: up to 1,200 tokens of calls without a report of what they took, which budgets count. The answer of such a call may be lost; then it was made again and perhaps paid twice.",
    );
    expect(rest).toEqual([]);
    const [, mixed] = costOf({ estimatedTokens: 1_200, simulatedEstimatedTokens: 200 });
    expect(mixed).toContain("up to 1,000 tokens");
    const [, simulated] = costOf({ estimatedTokens: 1_200, simulatedEstimatedTokens: 1_200 });
    expect(simulated).toBe(
      "Calls of the simulated model ended without a report of what they took: up to 1,200 tokens, which budgets count. Nothing was billed.",
    );
  });

  test("by the death of its process says that a step which was under way runs again", () => {
    const running = session({ status: "running" });
    expect(explainStop(running, { abandoned: true }).lost).toMatch(
      /^Its process is gone\. Nothing is lost: .* A step that was under way runs again, unless it is `once`\.$/,
    );
    expect(explainStop(running).lost).not.toContain("runs again");
  });

  test("for help advises the fixes of its failures first, except the one for unknown failures", () => {
    const suggestedActions = ["Correct the import.", failureTable.UNKNOWN.suggestedFix];
    const { why, todo, needs } = explainStop(session({ error: help("dev", { suggestedActions }) }));
    expect(why).toBe("dev needs help in phase build after 6 attempts. The last one failed: no dev.");
    expect(todo).toEqual([advise("Correct the import."), advise("Read the failures.")]);
    expect(needs).toEqual([]);
  });

  test("for help of several personas explains each, and gives the same advice once", () => {
    const error = toErrorJson(
      new HelpNeeded("2 personas need help.", {
        details: { personas: 2, needs: [help("a", { suggestedActions: ["Fix a."] }), help("b")] },
        advice: "Read the failures.",
      }),
    );
    const { todo, needs } = explainStop(session({ error }));
    expect(todo).toEqual([advise("Fix a."), advise("Read the failures.")]);
    expect(needs).toEqual([
      { phase: "build", persona: "a", why: "no a.", todo: [advise("Fix a."), advise("Read the failures.")] },
      { phase: "build", persona: "b", why: "no b.", todo: [advise("Read the failures.")] },
    ]);
  });

  test("for a governance violation quotes the advice of the error", () => {
    const error = toErrorJson(
      new GovernanceViolation("It wrote where it may not", { advice: "Correct it." }),
    );
    expect(explainStop(session({ status: "failed", reason: null, error }))).toMatchObject({
      why: "It wrote where it may not.",
      todo: [advise("Correct it.")],
    });
  });

  test("for a breaker names the time of the next try and the command that tries at once", () => {
    const error = toErrorJson(
      new CircuitOpen("semgrep is not called", { details: { dependency: "semgrep" } }),
    );
    const wakeAt = "2026-11-18T04:26:46.115Z";
    const { why, todo } = explainStop(session({ reason: "breaker", error, wakeAt }));
    expect(why).toBe(
      `semgrep is not called. Where \`maestro serve\` runs, it resumes by itself at ${wakeAt}.`,
    );
    expect(todo).toEqual([advise("To try at once, when semgrep is back", "breakers", "reset", "semgrep")]);
  });
});

test("a set-up that does not work shows the end of its output and what to do", () => {
  const error = toErrorJson(
    new SetupFailed("npm ci failed with exit code 1", {
      details: { printed: "npm error 404" },
      advice: "Correct the lockfile.",
    }),
  );
  const { why, todo, resume } = explainStop(session({ reason: "setup", error }));
  expect(why).toBe("npm ci failed with exit code 1.\n\nnpm error 404");
  expect(todo).toEqual([advise("Correct the lockfile.")]);
  expect(resume?.command).toEqual(["maestro", "resume", "parking"]);
});

test("a check that cannot be started is mended in the team file, in the program, or under a new key", () => {
  const error = toErrorJson(
    new SetupFailed("The check test cannot be started.", {
      details: { check: "test" },
      advice: "Install it.",
    }),
  );
  const todo = (change: Partial<StoppedSession>) =>
    explainStop(session({ reason: "setup", error, ...change })).todo;
  expect(todo({})).toEqual([
    advise("Install it."),
    advise(
      "Or correct the check or the setup in the team file, and resume with it",
      "resume",
      "parking",
      "--team",
      "<file>",
      "--accept-changes",
    ),
  ]);
  expect(todo({ source: {} }).at(-1)).toEqual(
    advise("Or change the repository, and start again under a new key: this session keeps its files."),
  );
  expect(todo({ needsProgram: true }).at(-1)?.command).toBeNull();
});

describe("the proposed limit", () => {
  const refused = (details: Readonly<Record<string, string | number | null>>) =>
    session({
      reason: "budget",
      error: toErrorJson(new BudgetExceeded("The budget is used up.", { details, advice: "Set a price." })),
      budgets: [
        {
          level: "persona",
          name: "qa",
          limit: { tokens: 40_000, usd: null },
          used: { tokens: 39_500, usd: null },
          overrun: false,
        },
        {
          level: "session",
          name: "s_1",
          limit: { tokens: null, usd: 1.9 },
          used: { tokens: 0, usd: 1.7 },
          overrun: false,
        },
      ],
    });
  const spent = { level: "session", name: "s_1", unit: "usd", limit: 1_900_000, used: 1_701_000 };

  test("is twice the limit", () => {
    const { raise, todo } = explainStop(refused({ ...spent, asked: 424_264 }));
    expect(raise).toEqual({ level: "session", name: null, unit: "usd", amount: 3.8 });
    expect(todo).toEqual([
      advise("Raise the budget, if it is worth it", "budget", "parking", "--usd", "3.80"),
    ]);
  });

  test("covers two calls like the refused one, rounded up to cents", () => {
    expect(explainStop(refused({ ...spent, asked: 9_000_001 })).raise).toMatchObject({ amount: 19.71 });
  });

  test("names the persona whose budget is used up", () => {
    const details = {
      level: "persona",
      name: "qa",
      unit: "tokens",
      limit: 40_000,
      used: 39_500,
      asked: 9_000,
    };
    expect(explainStop(refused(details)).todo).toEqual([
      advise(
        "Raise the budget, if it is worth it",
        "budget",
        "parking",
        "--persona",
        "qa",
        "--tokens",
        "80000",
      ),
    ]);
  });

  test.each([
    ["a limit of the day", { ...spent, level: "day", asked: 1 }],
    ["an unknown price", { ...spent, limit: null, used: null, asked: null }],
  ])("is missing for %s, where the error says what to do", (_name, details) => {
    expect(explainStop(refused(details))).toMatchObject({ raise: null, todo: [advise("Set a price.")] });
  });
});

test("a session that is driven or completed has nothing to explain", () => {
  for (const status of ["running", "completed"] as const) {
    expect(explainStop(session({ status, reason: null }))).toMatchObject({
      cost: "Cost: 1,000 tokens in 4 calls, $2.50.",
      why: null,
      todo: [],
      resume: null,
    });
  }
});

test.each([
  ["person", {}, "A person paused it. Still to do: build."],
  ["interrupt", {}, "Its command was interrupted. Still to do: build."],
  ["direction", { until: "design" }, "It was told to stop here (--until design). Still to do: build."],
  ["direction", { only: ["design"] }, "It was told to stop here (--only design). Still to do: build."],
  [
    "direction",
    { pauseAfter: ["design"] },
    "It was told to stop here (--pause-after design). Still to do: build.",
  ],
  ["answer", {}, "A person has answered. Still to do: build."],
  ["restore", {}, "It was restored from its checkpoints. Still to do: build."],
  ["refusal", {}, "Its last resume was refused. Still to do: build."],
] as const)("a session paused by %s %j says so", (pausedBy, direction, why) => {
  const paused = session({ status: "paused", reason: null, pausedBy, direction });
  expect(explainStop(paused).why).toBe(why);
});
