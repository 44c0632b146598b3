import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { PersonaContext } from "../../../src/index.ts";
import { Lives } from "./lives.ts";

const service = "api.example.org";

function outage(): Error {
  return Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
}

/** A step before, a call to the service, a step after. */
function caller(lives: Lives, call: () => unknown) {
  return async ({ step }: PersonaContext) => {
    const before = await step("before", lives.effect("before", "ready"));
    const answer = await step("call", call as () => string, { dependency: service });
    await step("after", lives.effect("after", "done"));
    return { summary: `${before}, ${answer}` };
  };
}

test("after an outage the next attempt continues and repeats only the failed call", async () => {
  const lives = new Lives();
  let calls = 0;
  const result = await lives.live(
    caller(lives, () => {
      calls += 1;
      if (calls < 3) throw outage();
      return "answered";
    }),
  );
  expect(result).toMatchObject({
    status: "completed",
    results: { work: { worker: { summary: "ready, answered" } } },
  });
  expect(lives.ran).toEqual(["before", "after"]);
  const started = lives.rows("attempt.started");
  expect(started).toHaveLength(3);
  expect(started[1]).toMatchObject({ continues: true });
});

test("an attempt that an outage interrupted is inherited across a restart", async () => {
  const lives = new Lives();
  let calls = 0;
  const work = caller(lives, () => {
    calls += 1;
    if (calls === 1) throw outage();
    return "answered";
  });
  lives.onEvent = (event) => {
    if (event.kind === "attempt.failed") lives.end();
  };
  await lives.live(work);
  lives.onEvent = () => {};
  expect(await lives.live(work)).toMatchObject({ status: "completed" });
  expect(lives.ran).toEqual(["before", "after"]);
});

test("a failure of the work starts a new conversation: nothing is inherited", async () => {
  const lives = new Lives();
  const result = await lives.live(async ({ step, failures }) => {
    await step("draft", lives.effect("draft", 1));
    if (failures.length === 0) throw new Error("not good enough");
    return { summary: "good" };
  });
  expect(result.status).toBe("completed");
  expect(lives.ran).toEqual(["draft", "draft"]);
});

test("an invalid key is not retried: the session parks for help at once", async () => {
  const lives = new Lives();
  let calls = 0;
  const result = await lives.live(
    caller(lives, () => {
      calls += 1;
      throw Object.assign(new Error("invalid x-api-key"), { statusCode: 401 });
    }),
  );
  expect(result).toMatchObject({ status: "parked", reason: "help" });
  expect(result.error?.message).toContain("after 1 attempt. ");
  expect(calls).toBe(1);
});

test.each([
  ["in the same life", false],
  ["after its process was killed between the step's record and the attempt's", true],
])("the HTTP status counts when the message is empty, %s", async (_, isKilled) => {
  const refusal = async (statusCode: number, responseHeaders: Record<string, string>) => {
    const lives = new Lives();
    const work = async ({ step }: PersonaContext) => {
      const refuse = () => {
        throw Object.assign(new Error("That did not go well"), { statusCode, responseHeaders });
      };
      await step("call", refuse, { dependency: service }).catch((cause: unknown) => {
        throw statusCode === 403 ? new Error("No call", { cause }) : cause;
      });
      return { summary: "called" };
    };
    if (isKilled) {
      lives.onEvent = ({ kind }) => kind === "step" && lives.end();
      await lives.live(work);
      lives.onEvent = () => {};
    }
    await lives.live(work);
    return lives.rows("attempt.failed") as unknown as { failure: object; next: string; at: string }[];
  };
  const wrongKey = { failure: { category: "AUTH", recoverable: false }, next: "help" };
  expect(await refusal(401, {})).toMatchObject([wrongKey]);
  expect(await refusal(403, {})).toMatchObject([
    { ...wrongKey, failure: { category: "AUTH", message: "No call: That did not go well" } },
  ]);
  const [limited, again] = await refusal(429, { "retry-after": "30" });
  expect(limited).toMatchObject({
    failure: { category: "RATE_LIMIT", retryAfterMs: 30_000 },
    next: "attempt",
  });
  expect(
    Date.parse(again?.at ?? "") - Date.parse(limited?.at ?? ""),
    "as long as it said",
  ).toBeGreaterThanOrEqual(30_000);
});

test("five outages in a row open the breaker, and waiting for its probe uses up no attempt", async () => {
  const lives = new Lives();
  let calls = 0;
  const result = await lives.live(
    caller(lives, () => {
      calls += 1;
      if (calls <= 5) throw outage();
      return "back again";
    }),
  );
  expect(result).toMatchObject({ status: "completed" });
  expect(calls).toBe(6);
  expect(lives.rows("dependency.waiting")).toMatchObject([{ dependency: service }]);
  expect(lives.rows("attempt.started")).toHaveLength(6);
  // Five retries and one cooldown of five minutes.
  expect(lives.waitedMs).toBeGreaterThanOrEqual(300_000);
  expect(lives.waitedMs).toBeLessThan(360_000);
});

test("an open breaker outlives its process and applies to other sessions at once", async () => {
  const lives = new Lives();
  const options = { breaker: { threshold: 2, cooldownMs: 3_600_000 } };
  let calls = 0;
  const work = caller(lives, () => {
    calls += 1;
    throw outage();
  });
  const first = await lives.live(work, options);
  expect(first).toMatchObject({ status: "parked", reason: "breaker", error: { code: "CIRCUIT_OPEN" } });
  expect(calls).toBe(2);
  lives.key = "another session";
  expect(await lives.live(work, options)).toMatchObject({ status: "parked", reason: "breaker" });
  expect(calls).toBe(2);
});

test("an attempt without progress ends as a timeout, and the next continues from its steps", async () => {
  const lives = new Lives();
  let tries = 0;
  const result = await lives.live(
    async ({ step, signal }) => {
      await step("before", lives.effect("before", 1));
      tries += 1;
      if (tries === 1)
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      return { summary: "moved on" };
    },
    { attempts: { timeoutMs: 60_000 } },
  );
  expect(result).toMatchObject({ status: "completed" });
  expect(lives.ran).toEqual(["before"]);
  expect(lives.rows("attempt.failed")).toMatchObject([{ failure: { category: "TIMEOUT", outage: true } }]);
});

test("a session that needs help raises one ticket, with the failures and the resume command", async () => {
  const lives = new Lives();
  const result = await lives.live(() => {
    throw new Error("the tests do not pass; token sk-ant-REDACTED");
  });
  expect(result).toMatchObject({ status: "parked", reason: "help", ticket: { status: "delivered" } });
  const folder = join(lives.stateDir, "tickets");
  const [file, ...more] = readdirSync(folder);
  expect(more).toEqual([]);
  const text = readFileSync(join(folder, String(file)), "utf8");
  expect(text).toContain(result.id);
  expect(text).toContain("Start the program that defines its team again");
  expect(text).toContain("the tests do not pass");
  expect(text).not.toContain("sk-ant-api03");
  await lives.live(() => {
    throw new Error("the tests do not pass; token sk-ant-REDACTED");
  });
  expect(readdirSync(folder), "the same problem again is the same ticket").toEqual([file]);
});
