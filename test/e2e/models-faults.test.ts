import { describe, expect, test } from "vitest";
import { defineTeam, persona, phase } from "../../src/index.ts";
import type { ModelFault } from "../support/loopback-models.ts";
import { attemptsOf, ModelHive, protocols, writesThenSubmits } from "../support/model-hive.ts";
import type { Reply } from "../support/paid-models.ts";

const team = defineTeam("fragile", {
  phases: [
    phase("only", {
      personas: [
        persona("worker", {
          instructions: "Write a.txt.",
          maxOutputTokens: 500,
          contract: { deliverables: ["a.txt"] },
        }),
      ],
    }),
  ],
});

/** The second call of the conversation meets the faults in order; every other call is answered. */
const failingSecond =
  (...faults: readonly ModelFault[]): Reply =>
  ({ answersBefore }, earlier) => {
    const tries = earlier.filter((asked) => asked.answersBefore === 1).length;
    return (answersBefore === 1 ? faults[tries] : undefined) ?? writesThenSubmits(answersBefore);
  };

const refuse = (status: number, code: string, message: string, headers = {}): ModelFault => ({
  fault: "refuse",
  status,
  code,
  message,
  headers,
});

const outages: readonly (readonly [string, ModelFault, string])[] = [
  ["500", refuse(500, "server_error", "Something broke."), "API_ERROR"],
  ["503", refuse(503, "unavailable", "Come back."), "API_ERROR"],
  ["connection reset", { fault: "reset" }, "API_ERROR"],
  ["half a body", { fault: "half" }, "API_ERROR"],
  ["a stream that ends in the middle", { fault: "early-end" }, "API_ERROR"],
  ["garbage", { fault: "garbage" }, "API_ERROR"],
  ["an answer of the wrong shape", { fault: "wrong-shape" }, "API_ERROR"],
  ["an endless answer", { fault: "endless" }, "API_ERROR"],
];

describe.each(protocols)("%s", (model) => {
  test.each(outages)(
    "after %s the next attempt continues and repeats only the failed call",
    async (_, fault, category) => {
      const hive = await ModelHive.open(failingSecond(fault));
      const ended = await hive.run(team, { model });
      expect(ended.result.status).toBe("completed");
      expect(attemptsOf(ended, "worker")).toMatchObject([
        { at: "1.1", status: "failed", category, healing: [] },
        { at: "1.2", status: "completed" },
      ]);
      const { log } = hive.models;
      expect(log.map(({ answersBefore }) => answersBefore)).toEqual([0, 1, 1]);
      expect(log[2]?.hash, "the same conversation").toBe(log[1]?.hash);
      expect(ended.view.usage).toMatchObject({ calls: 3, failedCalls: 1 });
      expect(await hive.maestro.breakers()).toMatchObject([
        { dependency: model, record: { state: { kind: "closed", failures: 0 } } },
      ]);
    },
  );

  test.each(["drip", "heartbeat", "silence"] as const)(
    "an answer that does not arrive (%s) is aborted after the configured time and requested again",
    async (fault) => {
      const hive = await ModelHive.open(failingSecond({ fault }), { attempts: { timeoutMs: 1000 } });
      const ended = await hive.run(team, { model });
      expect(ended.result.status).toBe("completed");
      expect(attemptsOf(ended, "worker")).toMatchObject([
        { at: "1.1", status: "failed", category: "TIMEOUT" },
        { at: "1.2", status: "completed" },
      ]);
      expect(hive.models.log.map(({ answersBefore }) => answersBefore)).toEqual([0, 1, 1]);
      expect(ended.tookMs).toBeGreaterThan(900);
      // Its usage is unknown, so the reserved amount counts.
      expect(ended.view.usage.estimatedTokens).toBeGreaterThan(500);
      expect(hive.models.server.open, "the connection is not left open").toBe(0);
    },
  );

  test("after a 429 the session waits for retry-after, uses one attempt, and the breaker stays closed", async () => {
    const limited = refuse(429, "rate_limit_error", "Slow down.", { "retry-after": "1" });
    const hive = await ModelHive.open(failingSecond(limited, limited), { breaker: { threshold: 1 } });
    const ended = await hive.run(team, { model });
    expect(ended.result.status).toBe("completed");
    expect(attemptsOf(ended, "worker")).toMatchObject([
      { at: "1.1", status: "failed", category: "RATE_LIMIT" },
      { at: "1.2", status: "completed" },
    ]);
    const { log } = hive.models;
    expect(log.map(({ answersBefore }) => answersBefore)).toEqual([0, 1, 1, 1]);
    for (const index of [2, 3]) {
      const waitedMs = (log[index]?.at ?? 0) - (log[index - 1]?.at ?? 0);
      expect(waitedMs).toBeGreaterThanOrEqual(999);
      expect(waitedMs).toBeLessThan(60_000);
    }
    const [breaker] = await hive.maestro.breakers();
    expect(breaker?.record.state).toEqual({ kind: "closed", failures: 0 });
    expect(ended.view.usage).toMatchObject({ calls: 4, failedCalls: 2, estimatedTokens: 0 });
  });

  test("after a 401 the session parks for help at once, and a resume with a valid key repeats only the failed call", async () => {
    let keyIsWrong = true;
    const answers = failingSecond();
    const hive = await ModelHive.open((asked, earlier) =>
      keyIsWrong && asked.answersBefore === 1
        ? refuse(401, "authentication_error", "Your key was revoked.")
        : answers(asked, earlier),
    );
    const ended = await hive.run(team, { model });
    expect(ended.result).toMatchObject({ status: "parked", reason: "help", error: { code: "HELP_NEEDED" } });
    expect(ended.result.ticket?.status).toBe("delivered");
    expect(attemptsOf(ended, "worker")).toMatchObject([{ at: "1.1", status: "failed", category: "AUTH" }]);
    expect(hive.models.log.map(({ answersBefore }) => answersBefore)).toEqual([0, 1]);
    expect(await hive.maestro.breakers()).toEqual([]);

    keyIsWrong = false;
    const resumed = await (await hive.maestro.resume(ended.result.id)).result();
    expect(resumed.status).toBe("completed");
    const { log } = hive.models;
    expect(log.map(({ answersBefore }) => answersBefore)).toEqual([0, 1, 1]);
    expect(log[2]?.hash, "the same conversation").toBe(log[1]?.hash);
  });
});

const model = protocols[0];

test("a lasting outage uses two rounds of three attempts with one call each, then parks for help, and a resume repeats no paid call", async () => {
  const down = refuse(503, "unavailable", "Come back.");
  const hive = await ModelHive.open(failingSecond(...Array(6).fill(down)), { breaker: { threshold: 100 } });
  const ended = await hive.run(team, { model });
  expect(ended.result).toMatchObject({ status: "parked", reason: "help" });
  expect(attemptsOf(ended, "worker").map(({ at }) => at)).toEqual(["1.1", "1.2", "1.3", "2.1", "2.2", "2.3"]);
  const asked = hive.models.log.filter(({ answersBefore }) => answersBefore === 1);
  expect(asked).toHaveLength(6);

  const resumed = await (await hive.maestro.resume(ended.result.id)).result();
  expect(resumed.status).toBe("completed");
  expect(hive.models.log.map(({ answersBefore }) => answersBefore)).toEqual([0, 1, 1, 1, 1, 1, 1, 1]);
});

test("sessions wait for an open breaker without using up attempts, and one successful probe closes it", async () => {
  const down = refuse(503, "unavailable", "Come back.");
  const breaker = { threshold: 2, cooldownMs: 1500 };
  const hive = await ModelHive.open(failingSecond(down, down), { breaker });
  const ended = await hive.run(team, { model });
  expect(ended.result.status).toBe("completed");
  expect(attemptsOf(ended, "worker").map(({ at, status }) => `${at} ${status}`)).toEqual([
    "1.1 failed",
    "1.2 failed",
    "1.3 completed",
  ]);
  const { log } = hive.models;
  expect(log.map(({ answersBefore }) => answersBefore)).toEqual([0, 1, 1, 1]);
  expect((log[3]?.at ?? 0) - (log[2]?.at ?? 0)).toBeGreaterThanOrEqual(1400);
});
