import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { durableModel, type PersonaContext } from "../../../src/index.ts";
import type { StreamPart } from "../../../src/personas/model/sdk-types.ts";
import { Lives } from "./lives.ts";
import { ownModel } from "./own-models.ts";

const service = "api.example.org";
const cooldownMs = 300_000;
const outage = () => Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
const limit = (responseHeaders: Record<string, string> = {}) =>
  Object.assign(new Error("slow down"), { statusCode: 429, responseHeaders });

/** Calls the service, which fails so many times; notes when it was called. */
function caller(
  lives: Lives,
  failures: number,
  failure: () => Error,
  dependency: string | undefined = service,
) {
  const calls: number[] = [];
  const work = async ({ step }: PersonaContext) => {
    const call = () => {
      calls.push(lives.clock.now());
      if (calls.length <= failures) throw failure();
      return "answered";
    };
    return { summary: await step("call", call, dependency === undefined ? {} : { dependency }) };
  };
  return { calls, work };
}

const tickets = (lives: Lives) => {
  const folder = join(lives.stateDir, "tickets");
  return readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8"));
};

describe("a service that is down", () => {
  test("for fewer than three probes costs only the attempts that opened its breaker, and raises no ticket", async () => {
    const lives = new Lives();
    const { calls, work } = caller(lives, 7, outage);
    expect(await lives.live(work)).toMatchObject({ status: "completed" });
    expect(calls).toHaveLength(8);
    expect(lives.rows("attempt.started"), "the probes are one attempt").toHaveLength(6);
    expect(lives.rows("attempt.failed")).toHaveLength(5);
    expect(lives.rows("dependency.waiting"), "each wait is on record").toHaveLength(3);
    expect(lives.waitedMs).toBeGreaterThanOrEqual(3 * cooldownMs);
    expect(() => tickets(lives)).toThrow("ENOENT");
  });

  test("for three probes gets one ticket, and the failure counts as usual", async () => {
    const lives = new Lives();
    const { calls, work } = caller(lives, Number.POSITIVE_INFINITY, outage);
    expect(await lives.live(work)).toMatchObject({ status: "parked", reason: "help" });
    expect(calls, "five that opened it, three probes").toHaveLength(8);
    expect(lives.rows("attempt.started")).toHaveLength(6);
    const about = tickets(lives).filter((text) => text.includes(`${service} does not answer`));
    expect(about).toHaveLength(1);
  });

  test("has free probes, even if the process dies right after one", async () => {
    const lives = new Lives();
    const { calls, work } = caller(lives, 6, outage);
    let waits = 0;
    lives.onEvent = ({ kind }) => {
      if (kind === "dependency.waiting" && ++waits === 2) lives.end();
    };
    expect(await lives.live(work)).toMatchObject({ status: "running" });
    expect(calls).toHaveLength(6);
    expect(await lives.live(work)).toMatchObject({ status: "completed" });
    expect(lives.rows("attempt.started")).toHaveLength(6);
  });
});

describe("a service that asks to wait", () => {
  test.each([
    ["a named one", service],
    ["one without a name", undefined],
  ])(
    "for hours is not waited for in place, %s: the session parks with its wake-up time",
    async (_, dependency) => {
      const lives = new Lives();
      const { calls, work } = caller(lives, 1, () => limit({ "retry-after": "3000" }), dependency);
      const before = lives.clock.now();
      const parked = await lives.live(work);
      expect(parked).toMatchObject({ status: "parked", reason: "breaker", error: { code: "CIRCUIT_OPEN" } });
      expect(parked.wakeAt).toBeGreaterThanOrEqual(before + 3_000_000);
      expect(lives.waitedMs).toBeLessThan(60_000);
      await lives.clock.advance(Number(parked.wakeAt) - lives.clock.now());
      expect(await lives.live(work)).toMatchObject({ status: "completed" });
      expect(calls).toHaveLength(2);
      expect(lives.rows("attempt.failed")).toHaveLength(1);
    },
  );

  test("without a duration is called less and less often", async () => {
    const lives = new Lives();
    const { calls, work } = caller(lives, 5, limit);
    expect(await lives.live(work)).toMatchObject({ status: "completed" });
    const waits = calls.slice(1).map((at, index) => at - Number(calls[index]));
    for (const [index, leastMs] of [1000, 2000, 4000, 8000, 16_000].entries())
      expect(waits[index]).toBeGreaterThanOrEqual(leastMs);
    expect(lives.rows("attempt.started"), "told once, it waits in place").toHaveLength(2);
  });
  test.each(["0", "Mon, 16 Nov 2020 07:00:00 GMT"])(
    "with a time in the past (retry-after: %s) is not called again without a pause",
    async (told) => {
      const lives = new Lives();
      const { calls, work } = caller(lives, 5, () => limit({ "retry-after": told }));
      expect(await lives.live(work)).toMatchObject({ status: "completed" });
      const waits = calls.slice(1).map((at, index) => at - Number(calls[index]));
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(1_000);
      expect(waits.at(-1)).toBeGreaterThanOrEqual(16_000);
    },
  );

  test("repeatedly, for less than ten minutes in total, costs one attempt, and each wait is recorded", async () => {
    const lives = new Lives();
    const { calls, work } = caller(lives, 40, () => limit({ "retry-after": "5" }));
    expect(await lives.live(work)).toMatchObject({ status: "completed" });
    expect(calls).toHaveLength(41);
    expect(lives.rows("attempt.failed")).toMatchObject([{ failure: { category: "RATE_LIMIT" } }]);
    expect(lives.rows("dependency.waiting")).toHaveLength(40);
  });

  test("in the middle of an answer is not called repeatedly in place: each started answer may be billed", async () => {
    const lives = new Lives();
    let calls = 0;
    const begins: readonly StreamPart[] = [
      { type: "text-start", id: "0" },
      { type: "text-delta", id: "0", delta: "To begin with" },
      { type: "error", error: limit({ "retry-after": "5" }) },
    ];
    const model = {
      ...ownModel(() => Promise.reject(new Error("not asked"))),
      doStream: async () => {
        calls += 1;
        return { stream: ReadableStream.from(begins) };
      },
    };
    const work = async (context: PersonaContext) => {
      const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Go on." }] }];
      const { stream } = await durableModel(model, context).doStream({ prompt });
      for await (const _ of stream);
      return { summary: "said" };
    };
    expect(await lives.live(work)).toMatchObject({ status: "parked", reason: "help" });
    expect(lives.rows("attempt.failed")).toHaveLength(6);
    expect(lives.rows("attempt.failed")[5]).toMatchObject({ failure: { category: "RATE_LIMIT" } });
    expect(calls).toBe(6);
  });

  test("forever ends in help, after ten minutes for each remaining attempt", async () => {
    const lives = new Lives();
    const { work } = caller(lives, Number.POSITIVE_INFINITY, () => limit({ "retry-after": "30" }));
    expect(await lives.live(work)).toMatchObject({ status: "parked", reason: "help" });
    expect(lives.rows("attempt.failed")).toHaveLength(6);
    expect(lives.waitedMs).toBeGreaterThan(5 * 600_000);
  });
});

/** How many attempts each round had. */
const attemptsByRound = (lives: Lives) => {
  const rounds = (lives.rows("attempt.started") as unknown as { round: number }[]).map(({ round }) => round);
  return [...new Set(rounds)].map((round) => rounds.filter((each) => each === round).length);
};

describe("a service that fails intermittently", () => {
  const often = 20;

  /** Every second call fails. */
  const everySecond = (failure: () => Error) => {
    let calls = 0;
    return async ({ step }: PersonaContext) => {
      for (let index = 0; index < often; index += 1) {
        const call = () => {
          calls += 1;
          if (calls % 2 === 0) throw failure();
          return index;
        };
        await step(`call ${index}`, call, { dependency: service });
      }
      return { summary: `${calls} calls` };
    };
  };

  test.each([
    ["is down", outage, [3]],
    ["asks to wait", () => limit({ "retry-after": "2" }), [2]],
  ])(
    "between successful calls (%s) needs no person, and no more attempts than a round has",
    async (_, failure, attempts) => {
      const lives = new Lives();
      expect(await lives.live(everySecond(failure))).toMatchObject({
        status: "completed",
        results: { work: { worker: { summary: `${2 * often - 1} calls` } } },
      });
      expect(attemptsByRound(lives)).toEqual(attempts);
    },
  );

  /** Calls that fail by number; before each the work comes further. */
  const failing = (lives: Lives, fails: (call: number) => boolean) => {
    const calls: number[] = [];
    const work = async ({ step }: PersonaContext) => {
      for (let index = 0; index < 4; index += 1) {
        const call = () => {
          calls.push(lives.clock.now());
          if (fails(calls.length)) throw outage();
          return index;
        };
        await step(`call ${index}`, call, { dependency: service });
      }
      return { summary: "done" };
    };
    return { calls, work };
  };

  test("is called three times in the last attempt of a round too, with growing waits", async () => {
    const lives = new Lives();
    // 1 | 2 answers, 3 | 4 answers, 5, 6: the third attempt asks its second question three times.
    const { calls, work } = failing(lives, (call) => [1, 3, 5, 6].includes(call));
    expect(await lives.live(work)).toMatchObject({ status: "completed" });
    expect(attemptsByRound(lives)).toEqual([3]);
    const waits = calls.slice(1).map((at, index) => at - Number(calls[index]));
    expect(waits[4]).toBeGreaterThanOrEqual(1_000);
    expect(waits[5]).toBeGreaterThanOrEqual(2_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(5_000);
  });

  test("costs no round if the last attempt started anew and has made progress since", async () => {
    const lives = new Lives();
    const { calls, work } = failing(lives, (call) => call === 10);
    let drafts = 0;
    const judged = async (context: PersonaContext) => {
      const result = await work(context);
      drafts += 1;
      if (drafts < 3) throw new Error("the draft is no good");
      return result;
    };
    expect(await lives.live(judged)).toMatchObject({ status: "completed" });
    expect(calls, "three drafts of four calls, and the one that met the outage").toHaveLength(13);
    expect(attemptsByRound(lives)).toEqual([3]);
  });

  test("and then permanently uses up its rounds, and no further attempt", async () => {
    const lives = new Lives();
    const { work } = failing(lives, (call) => call === 1 || call === 3 || call >= 5);
    const options = { breaker: { threshold: 1_000 } };
    expect(await lives.live(work, options)).toMatchObject({ status: "parked", reason: "help" });
    expect(attemptsByRound(lives)).toEqual([3, 3]);
  });

  test("within a step of several calls does not repeat the answered calls", async () => {
    const lives = new Lives();
    const { calls, work } = failing(lives, (call) => [1, 3, 6, 7, 8].includes(call));
    const inOne = async (context: PersonaContext) => {
      await context.step("first", () => "");
      return { summary: await context.step("all", async () => (await work(context)).summary) };
    };
    const options = { breaker: { threshold: 1_000 } };
    expect(await lives.live(inOne, options)).toMatchObject({ status: "completed" });
    expect(calls, "four answers, five outages").toHaveLength(9);
    expect(attemptsByRound(lives)).toEqual([3, 1]);
  });

  test("is not called more often after a restart, and only the remainder of a wait is waited", async () => {
    const lives = new Lives();
    const { calls, work } = failing(lives, (call) => call === 1 || call === 3 || (call >= 5 && call <= 7));
    const options = { breaker: { threshold: 1_000 } };
    let waits = 0;
    lives.onEvent = (event) => {
      if (event.kind === "step" && event.step === "wait" && ++waits <= 2) lives.end();
    };
    expect(await lives.live(work, options)).toMatchObject({ status: "running" });
    await lives.clock.advance(60_000);
    const before = lives.clock.now();
    expect(await lives.live(work, options)).toMatchObject({ status: "running" });
    expect(Number(calls.at(-1)) - before, "its wait was over").toBeLessThan(1_000);
    expect(await lives.live(work, options)).toMatchObject({ status: "completed" });
    expect(calls, "5, 6 and 7 in the third attempt, 8 in the next round").toHaveLength(9);
    expect(attemptsByRound(lives)).toEqual([3, 1]);
  });

  test("after work that differs each time still ends", async () => {
    const lives = new Lives();
    let tries = 0;
    const work = async ({ step }: PersonaContext) => {
      tries += 1;
      await step("look around", () => "", { input: tries, dependency: service });
      return { summary: await step("call", () => Promise.reject(outage()), { dependency: service }) };
    };
    expect(await lives.live(work)).toMatchObject({ status: "parked", reason: "help" });
    expect(attemptsByRound(lives)).toEqual([3, 3]);
  });

  test("before work that is never good enough gets six attempts in all", async () => {
    const lives = new Lives();
    let calls = 0;
    const work = async ({ step }: PersonaContext) => {
      const call = () => {
        calls += 1;
        if (calls === 1) throw outage();
        return calls;
      };
      await step("call", call, { dependency: service });
      throw new Error("the draft is no good");
    };
    expect(await lives.live(work)).toMatchObject({ status: "parked", reason: "help" });
    expect(attemptsByRound(lives)).toEqual([3, 3]);
  });
});
