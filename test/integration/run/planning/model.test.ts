import { describe, expect, onTestFinished, test } from "vitest";
import { askModel } from "../../../../src/run/planning/ask-model.ts";
import { classifyBrief } from "../../../../src/run/planning/classify-brief.ts";
import {
  type AskModel,
  classifyWithModel,
  type ModelQuestion,
} from "../../../../src/run/planning/classify-with-model.ts";
import { planFor } from "../../../../src/run/planning/plan-session.ts";
import type { PlannerCall } from "../../../../src/run/planning/planner-call.ts";
import { defineTeam, persona, phase } from "../../../../src/team/define.ts";
import { LoopbackModels, modelKey, type Reaction } from "../../../support/loopback-models.ts";

/** A call without accounts. */
const freely: Pick<PlannerCall, "runStep" | "signal"> = {
  runStep: async ({ effect }) => effect(),
  signal: AbortSignal.timeout(60_000),
};
const priceOf = async () => null;

const brief = "Fix the login page of the shop.";

const answer = {
  type: "feature",
  complexity: "large",
  parallelism: "many",
  expertise: ["docs", "backend", "backend"],
  risks: ["It may rain.", "It may rain."],
  confidence: 0.876,
  reason: "It looks like that.",
};

const saying =
  (text: string): AskModel =>
  async () => ({ text, model: "openai/gpt-5", inputTokens: 812, outputTokens: 95 });

describe("a valid answer of a model decides", () => {
  test.each([
    ["plain JSON", JSON.stringify(answer)],
    ["a block of code", `Here it is:\n\n\`\`\`json\n${JSON.stringify(answer, null, 2)}\n\`\`\`\n`],
  ])("%s", async (_, text) => {
    const { classification, reason, rejected } = await classifyWithModel(brief, saying(text));
    expect(classification).toEqual({
      type: "feature",
      complexity: "large",
      parallelism: "many",
      // In one order, each once: two answers that mean the same are the same.
      expertise: ["backend", "docs"],
      risks: ["It may rain."],
      confidence: 0.88,
    });
    expect(reason).toBe("It looks like that. (openai/gpt-5; 812 tokens in, 95 out)");
    expect(rejected).toEqual([
      "the classification by rules: bug-fix, small; needs backend, frontend, security",
    ]);
  });

  test("once, by the whole brief of any length, with a limit on the answer", async () => {
    const asked: ModelQuestion[] = [];
    const long = `${"word ".repeat(100_000)}END`;
    const { reason } = await classifyWithModel(long, (question) => {
      asked.push(question);
      return saying(JSON.stringify(answer))(question);
    });
    expect(asked).toHaveLength(1);
    expect(asked[0]?.prompt).toBe(`<brief>\n${long}\n</brief>`);
    expect(reason).not.toContain("characters");
    expect(asked[0]?.maxOutputTokens).toBe(1_000);
  });
});

describe("the rules decide when an answer is invalid, and the reason is recorded", () => {
  const deep = `${'{"a":'.repeat(50)}1${"}".repeat(50)}`;
  test.each<[what: string, text: string, why: string | RegExp]>([
    ["no JSON", "I would say it is a feature.", "it is not a JSON object"],
    ["nothing", "", "it is not a JSON object"],
    ["a list", "[1, 2]", "it is not a JSON object"],
    ["half of it", JSON.stringify(answer).slice(0, -20), "it is not a JSON object"],
    ["broken", '{"type": feature}', /./],
    ["another type", JSON.stringify({ ...answer, type: "poem" }), "/type"],
    ["no expertise", JSON.stringify({ ...answer, expertise: [] }), "/expertise"],
    ["an unknown expertise", JSON.stringify({ ...answer, expertise: ["juggling"] }), "/expertise/0"],
    ["too sure of itself", JSON.stringify({ ...answer, confidence: 7 }), "/confidence"],
    ["something missing", JSON.stringify({ ...answer, reason: undefined }), "reason"],
    ["something more", JSON.stringify({ ...answer, run: "rm -rf" }), "/run"],
    ["too many risks", JSON.stringify({ ...answer, risks: Array(11).fill("x") }), "/risks"],
    ["a novel", JSON.stringify({ ...answer, reason: "x".repeat(301) }), "/reason"],
    ["far too much", JSON.stringify({ ...answer, risks: ["x".repeat(100_000)] }), /./],
    ["too deep", deep, /./],
    ["a poisoned object", '{"__proto__": {"type": "feature"}}', /./],
  ])("%s", async (_, text, why) => {
    const { classification, reason, rejected } = await classifyWithModel(brief, saying(text));
    expect(classification).toEqual(classifyBrief(brief));
    expect(reason).toMatch(
      /^openai\/gpt-5 was asked \(812 tokens in, 95 out\) and its answer is of no use: /,
    );
    expect(reason).toMatch(why);
    expect(reason).toContain("The rules decided instead.");
    expect(reason.length).toBeLessThan(800);
    expect(rejected).toContain("the classification by openai/gpt-5");
  });

  test("also when no model can be called", async () => {
    const { classification, reason } = await classifyWithModel(brief, async () => {
      throw new Error(
        "connect ECONNREFUSED, Authorization: Bearer sk-abcdefghijklmnop1234\u0007\nsecond line",
      );
    });
    expect(classification).toEqual(classifyBrief(brief));
    expect(reason).toMatch(
      /^The model could not be asked: connect ECONNREFUSED.* second line\. The rules decided/,
    );
    expect(reason).not.toContain("abcdefghijklmnop");
  });

  test("text of a model is one line without control characters and secrets", async () => {
    const reason = `one\u0000\u001b[31m\ntwo\u202e api_key=sk-abcdefghijklmnop1234`;
    const { reason: shown } = await classifyWithModel(brief, saying(JSON.stringify({ ...answer, reason })));
    expect(shown).toMatch(/^one \[31m two api_key=\[redacted\] \(/);
  });
});

describe("a real model over the wire", () => {
  async function ask(script: readonly Reaction[], name = "anthropic/claude-sonnet-4-5") {
    const server = await LoopbackModels.start(script);
    onTestFinished(() => server.close());
    return { server, ask: askModel(name, freely, { env: server.env, priceOf }) };
  }

  test.each([
    "anthropic/claude-sonnet-4-5",
    "openai/gpt-5",
    "google/gemini-2.5-pro",
    "openai-compatible/llama-3",
  ])("%s is called once and its answer counts", async (name) => {
    const { server, ask: asking } = await ask([{ text: JSON.stringify(answer) }], name);
    const { classification, reason } = await classifyWithModel(brief, asking);
    expect(classification.complexity).toBe("large");
    expect(reason).toMatch(new RegExp(`\\(${name}; \\d+ tokens in, \\d+ out\\)$`));
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.text).toContain(brief);
  });

  test.each<[string, Reaction]>([
    ["refuses", { fault: "refuse", status: 500, code: "server_error", message: "down" }],
    ["hangs up", { fault: "reset" }],
    ["says half of it", { fault: "half" }],
    ["talks garbage", { fault: "garbage" }],
    ["never stops talking", { fault: "endless" }],
  ])("one that %s is not called again: the rules decide", async (_, reaction) => {
    const { server, ask: asking } = await ask([reaction]);
    const { classification, reason } = await classifyWithModel(brief, asking);
    expect(classification).toEqual(classifyBrief(brief));
    expect(reason).toContain("The rules decided instead.");
    expect(reason).not.toContain(modelKey);
    expect(server.requests).toHaveLength(1);
  });

  test("without a key no model is called", async () => {
    const { reason } = await classifyWithModel(brief, askModel("openai/gpt-5", freely, { env: {}, priceOf }));
    expect(reason).toMatch(/^The model could not be asked: There is no key for openai/);
  });
});

test("the answer of a model becomes decisions and the needed part of the team", async () => {
  const team = defineTeam("own", {
    planning: "model",
    phases: [phase("make", { personas: [persona("a", { instructions: "Do it." })] })],
  });
  const classified = await classifyWithModel(brief, saying(JSON.stringify(answer)));
  const { decisions, team: planned } = planFor(team, classified);
  expect(decisions.map(({ title }) => title)).toEqual([
    "Classification",
    "Blueprint",
    "Personas",
    "Contracts",
  ]);
  expect(decisions[0]?.choice).toBe(
    "feature, large, many at once; needs backend, docs; confidence 0.88; risks: It may rain.",
  );
  expect(planned.definition).toMatchObject({ plan: { blueprint: "backend-service", parallelism: "many" } });
  expect(planned.definition.planning).toBeUndefined();
});
