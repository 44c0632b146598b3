import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ManualClock } from "../../src/domain/manual-clock.ts";
import { defineTeam, persona, phase } from "../../src/index.ts";
import type { ModelFault } from "../support/loopback-models.ts";
import { attemptsOf, calls, ModelHive, protocols, writesThenSubmits } from "../support/model-hive.ts";

const refuse = (status: number, code: string, message: string): ModelFault => ({
  fault: "refuse",
  status,
  code,
  message,
});

/** Each provider's error for a prompt that is too long. */
const overflowWords: Readonly<Record<(typeof protocols)[number], string>> = {
  "openai-compatible/llama-3.3-70b":
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
  "openai/gpt-5":
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
  "anthropic/claude-sonnet-4-5": "prompt is too long: 215000 tokens > 200000 maximum",
  "google/gemini-2.5-pro":
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
};

describe.each(protocols)("%s", (model) => {
  test("a prompt that is too long is shortened, and the next attempt passes", async () => {
    const long = `Everything about it.\n${"It is long. ".repeat(4000)}`;
    const fits = 40_000;
    const hive = await ModelHive.open(({ persona, answersBefore, bytes }) => {
      if (persona === "talker") return calls("submit", { summary: long });
      if (persona === "editor") return calls("submit", { summary: "It is about a thing." });
      if (bytes > fits) return refuse(400, "invalid_request_error", overflowWords[model]);
      return writesThenSubmits(answersBefore);
    });
    const team = defineTeam("wordy", {
      phases: [
        phase("talk", { personas: [persona("talker", { instructions: "Say everything." })] }),
        phase("edit", { personas: [persona("editor", { instructions: "Say it shorter.", consumes: [] })] }),
        phase("work", {
          personas: [
            persona("worker", { instructions: "Write a.txt.", contract: { deliverables: ["a.txt"] } }),
          ],
        }),
      ],
    });
    const ended = await hive.run(team, { model });
    expect(ended.result.status).toBe("completed");
    expect(attemptsOf(ended, "worker")).toEqual([
      {
        at: "1.1",
        status: "failed",
        category: "RESOURCE",
        code: "context_length_exceeded",
        healing: ["shorten-context: kept"],
      },
      { at: "1.2", status: "completed", category: null, code: null, healing: [] },
    ]);
    const asked = hive.models.log.filter(({ persona }) => persona === "worker");
    expect(asked.map(({ answersBefore }) => answersBefore)).toEqual([0, 0, 1]);
    expect(asked[0]?.bytes).toBeGreaterThan(fits);
    expect(asked[1]?.bytes).toBeLessThan(fits);
  });
});

/** The persona's two models are of different providers. */
const [first, second] = ["openai/gpt-5", "anthropic/claude-sonnet-4-5"] as const;
const withFallback = defineTeam("careful", {
  model: first,
  phases: [
    phase("only", {
      personas: [
        persona("worker", {
          instructions: "Write a.txt.",
          fallbackModels: [second],
          contract: { deliverables: ["a.txt"] },
        }),
      ],
    }),
  ],
});

const wrongKey = refuse(401, "authentication_error", "Your key was revoked.");
const down = refuse(500, "server_error", "Something broke.");

test("a model with a refused key is replaced by the fallback, and the attempt passes", async () => {
  const hive = await ModelHive.open(({ model, answersBefore }) =>
    model === "gpt-5" ? wrongKey : writesThenSubmits(answersBefore),
  );
  const ended = await hive.run(withFallback);
  expect(ended.result.status).toBe("completed");
  expect(attemptsOf(ended, "worker")).toMatchObject([
    { at: "1.1", status: "failed", category: "AUTH", healing: ["fallback-model: kept"] },
    { at: "1.2", status: "completed", healing: [] },
  ]);
  expect(hive.models.log.map(({ model }) => model)).toEqual([
    "gpt-5",
    "claude-sonnet-4-5",
    "claude-sonnet-4-5",
  ]);
  const { rows } = await hive.maestro.usage({ by: "model", session: ended.result.id });
  expect(rows.map(({ name, calls, failedCalls }) => [name, calls, failedCalls])).toEqual(
    expect.arrayContaining([
      [second, 2, 0],
      [first, 1, 1],
    ]),
  );
});

test("a model is replaced after two outages and not after one", async () => {
  const hive = await ModelHive.open(({ model, answersBefore }) =>
    model === "gpt-5" ? down : writesThenSubmits(answersBefore),
  );
  const ended = await hive.run(withFallback);
  expect(ended.result.status).toBe("completed");
  expect(attemptsOf(ended, "worker")).toMatchObject([
    { at: "1.1", status: "failed", category: "API_ERROR", healing: [] },
    { at: "1.2", status: "failed", category: "API_ERROR", healing: ["fallback-model: kept"] },
    { at: "1.3", status: "completed", healing: [] },
  ]);
  expect(hive.models.log.map(({ model }) => model)).toEqual([
    "gpt-5",
    "gpt-5",
    "claude-sonnet-4-5",
    "claude-sonnet-4-5",
  ]);
});

test("a fallback that answers and then fails once is called again and not replaced", async () => {
  const third = "google/gemini-2.5-pro";
  let failures = 0;
  const hive = await ModelHive.open(({ model, answersBefore }) => {
    if (model === "gpt-5" || (answersBefore === 1 && ++failures === 1)) return down;
    return writesThenSubmits(answersBefore);
  });
  const careful = persona("worker", {
    instructions: "Write a.txt.",
    fallbackModels: [second, third],
    contract: { deliverables: ["a.txt"] },
  });
  const team = defineTeam("more-careful", { model: first, phases: [phase("only", { personas: [careful] })] });
  const ended = await hive.run(team);
  expect(ended.result.status).toBe("completed");
  expect(hive.models.log.map(({ model, answersBefore }) => [model, answersBefore])).toEqual([
    ["gpt-5", 0],
    ["gpt-5", 0],
    ["claude-sonnet-4-5", 0],
    ["claude-sonnet-4-5", 1],
    ["claude-sonnet-4-5", 1],
  ]);
});

test("outages with paid answers in between do not change the model", async () => {
  const failed = new Set<number>();
  const hive = await ModelHive.open(({ answersBefore }) => {
    if ([1, 3].includes(answersBefore) && !failed.has(answersBefore)) {
      failed.add(answersBefore);
      return down;
    }
    if (answersBefore < 4) return calls("write_file", { path: "a.txt", content: `${answersBefore}\n` });
    return calls("submit", { summary: "done" });
  });
  const ended = await hive.run(withFallback);
  expect(ended.result.status).toBe("completed");
  expect(hive.models.log.map(({ model, answersBefore }) => [model, answersBefore])).toEqual(
    [0, 1, 1, 2, 3, 3, 4].map((answersBefore) => ["gpt-5", answersBefore]),
  );
});

test("rate limits with paid answers in between neither change the model nor park for help", async () => {
  const limited = new Set<number>();
  const hive = await ModelHive.open(({ answersBefore }) => {
    if (answersBefore > 0 && !limited.has(answersBefore)) {
      limited.add(answersBefore);
      return refuse(429, "rate_limit_exceeded", "Slow down.");
    }
    if (answersBefore < 7) return calls("write_file", { path: "a.txt", content: `${answersBefore}\n` });
    return calls("submit", { summary: "done" });
  });
  const ended = await hive.run(withFallback);
  expect(ended.result.status).toBe("completed");
  expect(new Set(hive.models.log.map(({ model }) => model))).toEqual(new Set(["gpt-5"]));
  expect(hive.models.log, "eight answers, each but the first after a limit").toHaveLength(15);
  expect(attemptsOf(ended, "worker").map(({ at }) => at)).toEqual(["1.1", "1.2", "1.3"]);
});

test("a fallback that does not help is recorded as kept, and the session parks for help", async () => {
  const hive = await ModelHive.open(() => wrongKey);
  const ended = await hive.run(withFallback);
  expect(ended.result).toMatchObject({ status: "parked", reason: "help" });
  expect(attemptsOf(ended, "worker")).toMatchObject([
    { at: "1.1", status: "failed", category: "AUTH", healing: ["fallback-model: kept"] },
    { at: "1.2", status: "failed", category: "AUTH", healing: [] },
  ]);
  expect(hive.models.log.map(({ model }) => model)).toEqual(["gpt-5", "claude-sonnet-4-5"]);
});

test("a fallback lasts one round: the next round and a person's resume start with the first model", async () => {
  let keyIsMended = false;
  const hive = await ModelHive.open(
    ({ model, answersBefore }) => {
      if (model !== "gpt-5") return calls("submit", { summary: "without the file" });
      return keyIsMended ? writesThenSubmits(answersBefore) : wrongKey;
    },
    { attempts: { max: 2 } },
  );
  const ended = await hive.run(withFallback);
  expect(ended.result).toMatchObject({ status: "parked", reason: "help" });
  const asked = () =>
    hive.models.log.map(({ model }) => model).filter((model, at, all) => model !== all[at - 1]);
  expect(asked()).toEqual(["gpt-5", "claude-sonnet-4-5", "gpt-5", "claude-sonnet-4-5"]);
  keyIsMended = true;
  const resumed = await (await hive.maestro.resume(ended.result.id)).result();
  expect(resumed.status).toBe("completed");
  expect(asked().slice(4)).toEqual(["gpt-5"]);
});

test("a resume after the first model's key is corrected uses the first model", async () => {
  let keyIsMended = false;
  const hive = await ModelHive.open(({ model, answersBefore }) =>
    model === "gpt-5" && keyIsMended ? writesThenSubmits(answersBefore) : wrongKey,
  );
  const ended = await hive.run(withFallback);
  expect(ended.result).toMatchObject({ status: "parked", reason: "help" });
  keyIsMended = true;
  const resumed = await (await hive.maestro.resume(ended.result.id)).result();
  expect(resumed.status).toBe("completed");
  const models = hive.models.log.map(({ model }) => model);
  expect(models).toEqual(["gpt-5", "claude-sonnet-4-5", "gpt-5", "gpt-5"]);
});

test("a shortened context lasts one round: the next round starts with the whole context", async () => {
  const long = `Everything about it.\n${"It is long. ".repeat(4000)}`;
  const model = "openai-compatible/llama-3.3-70b";
  const hive = await ModelHive.open(({ persona }) =>
    persona === "talker"
      ? calls("submit", { summary: long })
      : refuse(400, "invalid_request_error", overflowWords[model]),
  );
  const team = defineTeam("wordy", {
    phases: [
      phase("talk", { personas: [persona("talker", { instructions: "Say everything." })] }),
      phase("edit", { personas: [persona("editor", { instructions: "Say it shorter." })] }),
    ],
  });
  const ended = await hive.run(team, { model });
  expect(ended.result).toMatchObject({ status: "parked", reason: "help" });
  const sizes = hive.models.log.flatMap(({ persona, bytes }) => (persona === "editor" ? [bytes] : []));
  expect(sizes).toHaveLength(6);
  const [first = 0, shortened = 0, , ofNextRound = 0] = sizes;
  expect(shortened).toBeLessThan(0.8 * first);
  expect(ofNextRound).toBeGreaterThanOrEqual(first);
});

/** A persona with a small maxOutputTokens, and the limits of its calls without repetitions. */
const brief = defineTeam("brief", {
  model: "openai-compatible/llama-3.3-70b",
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
const limitOf = (hive: ModelHive): unknown => hive.models.server.requests.at(-1)?.body["max_tokens"];
const limitsOf = (hive: ModelHive): unknown[] =>
  hive.models.server.requests
    .map(({ body }) => body["max_tokens"])
    .filter((limit, at, all) => limit !== all[at - 1]);
const cut = { text: "So much to say", cutAtLimit: true };

test("the limit of answers that are cut again and again is raised, and the next attempt passes", async () => {
  const hive = await ModelHive.open(({ answersBefore }) =>
    limitOf(hive) === 500 ? cut : writesThenSubmits(answersBefore),
  );
  const ended = await hive.run(brief);
  expect(ended.result.status).toBe("completed");
  expect(limitsOf(hive)).toEqual([500, 1000]);
  const [attempt] = ended.view.phases[0]?.personas[0]?.attempts ?? [];
  expect(attempt?.healing).toEqual([
    {
      healer: "longer-answers",
      action: "let answers have 1000 tokens instead of 500",
      did: { kind: "raised-limit", limit: "maxOutputTokens", from: 500, to: 1000 },
      outcome: "kept",
    },
  ]);
});

test("a raised answer limit lasts one round and is at most four times the team's limit", async () => {
  const hive = await ModelHive.open(() => cut, { attempts: { max: 4 } });
  const ended = await hive.run(brief);
  expect(ended.result).toMatchObject({ status: "parked", reason: "help" });
  expect(limitsOf(hive)).toEqual([500, 1000, 2000, 500, 1000, 2000]);
});

test("a model that streams for longer than timeoutMs does not time out", async () => {
  const thinking = {
    reasoning: "Hmm, let me think about that.",
    calls: [{ id: "c", tool: "write_file", input: { path: "a.txt", content: "a\n" } }],
  };
  const clock = new ManualClock();
  const [begin, limitMs] = [clock.now(), 600];
  letTimePassBetweenEvents(clock, limitMs / 6);
  const hive = await ModelHive.open(
    ({ answersBefore }) => (answersBefore === 0 ? thinking : writesThenSubmits(answersBefore)),
    { clock, attempts: { max: 1 }, rounds: { max: 1 } },
  );
  const worker = persona("worker", { instructions: "Write a.txt.", timeoutMs: limitMs });
  const impatient = defineTeam("impatient", { phases: [phase("only", { personas: [worker] })] });
  const ended = await hive.run(impatient, { model: "openai-compatible/llama-3.3-70b" });
  expect(ended.result.status).toBe("completed");
  expect(attemptsOf(ended, "worker")).toMatchObject([{ at: "1.1", status: "completed" }]);
  expect(clock.now() - begin).toBeGreaterThan(1.5 * limitMs);
});

/** Advances the clock by this time before each event of a streamed answer. */
function letTimePassBetweenEvents(clock: ManualClock, ms: number): void {
  const real = fetch;
  vi.stubGlobal("fetch", async (...asked: Parameters<typeof fetch>) => {
    const response = await real(...asked);
    return new Response(response.body?.pipeThrough(eventByEvent(clock, ms)) ?? null, response);
  });
  onTestFinished(() => void vi.unstubAllGlobals());
}

function eventByEvent(clock: ManualClock, ms: number): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform: async (chunk, controller) => {
      for (const event of new TextDecoder().decode(chunk).split(/(?<=\n\n)/)) {
        await clock.advance(ms);
        controller.enqueue(new TextEncoder().encode(event));
      }
    },
  });
}
