import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  BudgetExceeded,
  ConfigInvalid,
  GovernanceViolation,
  HelpNeeded,
  type PersonaContext,
  TeamChanged,
  TeamInvalid,
  UnrecoverableError,
} from "../../../src/index.ts";
import { PersonaExecutor } from "../../../src/run/persona-executor.ts";
import { Lives } from "./lives.ts";

const done = { summary: "done" };

/** Fails as often as it is tried, and says which try it was. */
function hopeless(lives: Lives, endsBefore: readonly number[] = []) {
  return async ({ step, failures }: PersonaContext) => {
    const number = failures.length + 1;
    if (endsBefore.includes(number)) lives.end();
    await step("try", lives.effect(`try ${number}`, number));
    throw new Error(`try ${number} failed`);
  };
}

async function triesOf(lives: Lives): Promise<(readonly [number, number, string])[]> {
  const attempts = (await lives.show()).phases[0]?.personas[0]?.attempts ?? [];
  return attempts.map(({ round, attempt, failure }) => [round, attempt, failure?.message ?? "no failure"]);
}

const sixTries = [
  [1, 1, "try 1 failed"],
  [1, 2, "try 2 failed"],
  [1, 3, "try 3 failed"],
  [2, 1, "try 4 failed"],
  [2, 2, "try 5 failed"],
  [2, 3, "try 6 failed"],
];

describe("a persona that always fails", () => {
  test("is tried three times in each of two rounds, then parks for help with every failure", async () => {
    const lives = new Lives();
    const result = await lives.live(hopeless(lives));
    expect(result).toMatchObject({ status: "parked", reason: "help", error: { name: "HelpNeeded" } });
    expect(result.error?.message).toContain("worker needs help in phase work after 6 attempts");
    expect(result.error?.message).toContain("try 6 failed");
    expect(lives.ran).toHaveLength(6);
    expect(await triesOf(lives)).toEqual(sixTries);
  });

  test("ends each round with an error that has the failure of every attempt", async () => {
    const ends = vi.spyOn(PersonaExecutor.prototype, "execute");
    onTestFinished(() => ends.mockRestore());
    const lives = new Lives();
    await lives.live(hopeless(lives));
    const rounds = ends.mock.settledResults.map(({ value }) => value as UnrecoverableError);
    expect(rounds.map((error) => UnrecoverableError.is(error) && error.details["round"])).toEqual([1, 2]);
    for (const [index, { details, message }] of rounds.entries()) {
      const tries = sixTries.slice(3 * index, 3 * index + 3);
      expect(details).toMatchObject({
        phase: "work",
        persona: "worker",
        failures: tries.map(([, , said]) => ({ category: "UNKNOWN", message: said })),
      });
      expect(message).toContain(`worker failed 3 attempts in phase work, round ${index + 1}`);
    }
  });

  test.each([1, 2, 5])("is tried %i times a round if its team sets that number", async (maxAttempts) => {
    const lives = new Lives();
    expect(await lives.live(hopeless(lives), {}, { maxAttempts })).toMatchObject({ reason: "help" });
    const rounds = (await triesOf(lives)).map(([round, attempt]) => [round, attempt]);
    const numbers = Array.from({ length: maxAttempts }, (_, index) => index + 1);
    expect(rounds).toEqual([1, 2].flatMap((round) => numbers.map((number) => [round, number])));
  });

  test("shows the number of attempts, each failure, and the next action", async () => {
    const lives = new Lives();
    const { error, ticket } = await lives.live(() => {
      throw Object.assign(new Error("Cannot find module './a.js'"), { code: "ERR_MODULE_NOT_FOUND" });
    });
    expect(error?.details).toMatchObject({
      attempts: 6,
      category: "IMPORT",
      failures: sixTries.map(([round, attempt]) => ({ round, attempt, category: "IMPORT" })),
      suggestedActions: [expect.stringMatching(/\w+/)],
      ticket: ticket?.fingerprint,
    });
  });

  test("records no steps of healers that did nothing", async () => {
    const lives = new Lives();
    await lives.live(() => {
      throw new TypeError("x is not a function");
    });
    expect(lives.rows("attempt.failed")).toHaveLength(6);
    expect(lives.rows("step")).toEqual([]);
  });

  test.each(["the draft contains a forbidden word", "the spec has no rate limit section"])(
    "is tried equally often for any error text, each time in a new conversation: %s",
    async (words) => {
      const lives = new Lives();
      const result = await lives.live(async ({ step }) => {
        await step("try", lives.effect("try", 1));
        throw new Error(words);
      });
      expect(result).toMatchObject({ status: "parked", reason: "help" });
      expect(lives.ran).toHaveLength(6);
    },
  );

  test("is tried equally often, at whatever point its process dies", async () => {
    const lives = new Lives();
    for (const number of [1, 2, 2, 4, 6]) {
      expect((await lives.live(hopeless(lives, [number]))).status).toBe("running");
    }
    expect(await lives.live(hopeless(lives))).toMatchObject({ status: "parked", reason: "help" });
    expect(lives.ran).toEqual(sixTries.map((_, index) => `try ${index + 1}`));
    expect(await triesOf(lives)).toEqual(sixTries);
  });

  test("gets one more set of rounds, with continued numbers, at each resume by a person", async () => {
    const lives = new Lives();
    await lives.live(hopeless(lives));
    for (const rounds of [
      [3, 4],
      [5, 6],
    ]) {
      expect(await lives.live(hopeless(lives))).toMatchObject({ status: "parked", reason: "help" });
      expect((await triesOf(lives)).slice(-6).map(([round]) => round)).toEqual(
        rounds.flatMap((round) => [round, round, round]),
      );
    }
    expect(lives.ran).toHaveLength(18);
    expect(lives.ran.at(-1)).toBe("try 18");
  });

  test("can succeed on the last attempt, which knows why the others failed", async () => {
    const lives = new Lives();
    const seen: string[][] = [];
    const result = await lives.live(async ({ failures }) => {
      seen.push(failures.map(({ message }) => message));
      if (failures.length < 5) throw new Error(`no ${failures.length + 1}`);
      return done;
    });
    expect(result.status).toBe("completed");
    expect(seen.at(-1)).toEqual(["no 1", "no 2", "no 3", "no 4", "no 5"]);
  });

  test("waits between attempts and longer between rounds, never more than configured", async () => {
    const lives = new Lives();
    await lives.live(hopeless(lives), {
      attempts: { baseDelayMs: 1_000, maxDelayMs: 1_000 },
      rounds: { baseDelayMs: 7_000, maxDelayMs: 7_000 },
    });
    expect(lives.waitedMs).toBe(4 * 1_000 + 7_000);
  });
});

describe("errors that decide the next action", () => {
  test("UnrecoverableError starts the next round at once", async () => {
    const lives = new Lives();
    const result = await lives.live(async ({ failures, step }) => {
      await step("try", lives.effect("try", 1));
      throw new UnrecoverableError(`hopeless ${failures.length + 1}`);
    });
    expect(result).toMatchObject({ status: "parked", reason: "help" });
    expect(await triesOf(lives)).toEqual([
      [1, 1, "hopeless 1"],
      [2, 1, "hopeless 2"],
    ]);
  });

  test.each([
    [new TeamInvalid("the team is wrong"), { status: "failed" }],
    [new TeamChanged("the team is another"), { status: "failed" }],
    [new GovernanceViolation("it may not"), { status: "failed" }],
    [new BudgetExceeded("nothing is left"), { status: "parked", reason: "budget" }],
    [new ConfigInvalid("a setting is wrong"), { status: "parked", reason: "help" }],
    [new HelpNeeded("which of the two?"), { status: "parked", reason: "help" }],
  ])("permanent failures are tried once: %s", async (error, end) => {
    const lives = new Lives();
    let tries = 0;
    const result = await lives.live(() => {
      tries += 1;
      throw error;
    });
    expect(result).toMatchObject(end);
    expect(tries).toBe(1);
    expect(lives.waitedMs).toBe(0);
  });

  test("GovernanceViolation is not retried: the session fails", async () => {
    const lives = new Lives();
    const result = await lives.live(async ({ step }) => {
      await step("try", () => {
        lives.ran.push("try");
        throw new GovernanceViolation("it wrote to /etc");
      });
      return done;
    });
    expect(result).toMatchObject({
      status: "failed",
      error: { name: "GovernanceViolation", message: "it wrote to /etc" },
    });
    expect(lives.ran).toEqual(["try"]);
    expect(lives.waitedMs).toBe(0);
  });

  test("a failed session runs again when a person resumes it", async () => {
    const lives = new Lives();
    let isAllowed = false;
    const work = async () => {
      if (!isAllowed) throw new GovernanceViolation("not allowed");
      return done;
    };
    expect((await lives.live(work)).status).toBe("failed");
    expect((await lives.live(work)).status).toBe("failed");
    isAllowed = true;
    expect((await lives.live(work)).status).toBe("completed");
    expect(await triesOf(lives)).toEqual([
      [1, 1, "not allowed"],
      [2, 1, "not allowed"],
      [3, 1, "no failure"],
    ]);
  });

  test.each([
    ["nothing", undefined],
    ["a text", "done"],
    ["no summary", { outputs: {} }],
    ["outputs that are a list", { summary: "s", outputs: [] }],
    ["outputs that are too large", { summary: "s", outputs: { text: "x".repeat(2 ** 20) } }],
  ])("a persona that returns %s fails, and the next attempt gets the reason", async (_, returned) => {
    const lives = new Lives();
    const result = await lives.live(async () => returned as never, {
      attempts: { max: 1 },
      rounds: { max: 1 },
    });
    expect(result).toMatchObject({ status: "parked", reason: "help" });
    expect((await triesOf(lives))[0]?.[2]).toMatch(/persona "worker"/i);
  });

  test.each(["a text", 42, null, undefined, { code: 7 }])("any value may be thrown (%s)", async (thrown) => {
    const lives = new Lives();
    const result = await lives.live(
      async ({ step }) => {
        await step("throws", () => {
          throw thrown;
        });
        return done;
      },
      { attempts: { max: 1 }, rounds: { max: 1 } },
    );
    expect(result).toMatchObject({ status: "parked", reason: "help" });
    expect((await triesOf(lives))[0]?.[2]).toContain("not an error was thrown");
  });
});

describe("a persona that returns an unknown member", () => {
  test("fails after one attempt, with a suggestion for the misspelled name", async () => {
    const lives = new Lives();
    const misspelled = { sumary: "done", output: { files: 2 }, elapsed: 3 } as unknown as { summary: string };
    const result = await lives.live(async () => misspelled);
    expect(result).toMatchObject({ status: "parked", reason: "help" });
    const why =
      'Persona "worker" returned an unknown member: "sumary" (did you mean "summary"?), "output" (did you mean "outputs"?), "elapsed".';
    expect(await triesOf(lives)).toEqual([[1, 1, why]]);
    expect(result.error?.message).toContain("did you mean");
    expect(await lives.live(async () => ({ summary: "done" }))).toMatchObject({ status: "completed" });
  });
});
