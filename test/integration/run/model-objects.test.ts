import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { describe, expect, onTestFinished, test } from "vitest";
import { isolatedTeam } from "../../../src/api/isolated-team.ts";
import {
  defineTeam,
  type LanguageModelObject,
  type Persona,
  type PersonaOptions,
  persona,
  phase,
  proveModels,
  type TeamOptions,
} from "../../../src/index.ts";
import { calls } from "../../support/model-hive.ts";
import { PaidModels, type Reply } from "../../support/paid-models.ts";
import { TeamPlace } from "./place.ts";

const submits: Reply = () => calls("submit", { summary: "done" });

/** A provider whose address and key only the model objects know: the environment has neither. */
async function provider(reply: Reply = submits) {
  const paid = await PaidModels.start(reply);
  onTestFinished(() => paid.close());
  const { OPENAI_BASE_URL: baseURL = "", OPENAI_API_KEY: apiKey = "" } = paid.server.env;
  return {
    paid,
    openai: (id: string) => createOpenAI({ baseURL, apiKey })(id),
    acme: (id: string) => createOpenAICompatible({ name: "acme", baseURL, apiKey })(id),
  };
}

const teamOf = (keys: Partial<PersonaOptions>, more: Partial<TeamOptions<string>> = {}) =>
  defineTeam("objects", {
    ...more,
    phases: [
      phase("work", { personas: [persona("dev", { instructions: "Work.", ...keys } as PersonaOptions)] }),
    ],
  });

const workOf = (team: ReturnType<typeof teamOf>) => team.definition.phases[0]?.personas[0]?.work;

describe("a model object in code", () => {
  test("does the work of a persona, and is recorded, priced and counted under its name", async () => {
    const { paid, openai } = await provider();
    const team = teamOf({ model: openai("gpt-5") });
    expect(workOf(team)).toMatchObject({ model: "openai/gpt-5" });
    expect(team.fingerprint).toBe(teamOf({ model: "openai/gpt-5" }).fingerprint);
    expect(await proveModels(team, { env: {} })).toEqual(["openai/gpt-5"]);
    const maestro = await new TeamPlace().open();
    const session = await maestro.start(team, { brief: "x", budget: { usd: 1 } });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(paid.log.map(({ model }) => model)).toEqual(["gpt-5"]);
    const { usage } = await maestro.show(session.id);
    expect(usage.calls).toBe(1);
    expect(usage.costUsd).toBeGreaterThan(0);
  });

  test("may have a provider that Maestro does not know, and may be the model of a whole team", async () => {
    const { paid, acme } = await provider();
    const team = teamOf({}, { model: acme("large") });
    expect(team.definition.model).toBe("acme/large");
    const maestro = await new TeamPlace().open();
    expect(await (await maestro.start(team, { brief: "x" })).result()).toMatchObject({ status: "completed" });
    expect(paid.log.map(({ model }) => model)).toEqual(["large"]);
  });

  test("plans a team, like a model that is named", async () => {
    const { paid, acme } = await provider((asked) =>
      asked.persona === "" ? { text: "no plan" } : calls("submit", { summary: "done" }),
    );
    const team = teamOf({}, { model: acme("large"), planning: "model" });
    const maestro = await new TeamPlace().open();
    const { status } = await (await maestro.start(team, { brief: "Fix a typo." })).result();
    expect(status).toBe("completed");
    expect(paid.log.map(({ persona }) => persona)).toEqual(["", "dev"]);
  });

  test("is a fallback: it takes over when the model before it cannot be used", async () => {
    const { paid, acme, openai } = await provider((asked) =>
      asked.model === "gpt-5"
        ? { fault: "refuse", status: 401, message: "wrong key", code: "invalid_api_key" }
        : calls("submit", { summary: "done" }),
    );
    const team = teamOf({ model: openai("gpt-5"), fallbackModels: [acme("large")] });
    expect(workOf(team)).toMatchObject({ fallbackModels: ["acme/large"] });
    const maestro = await new TeamPlace().open();
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(paid.log.at(-1)?.model).toBe("large");
  });

  test("keeps its own place where two personas give objects of one name", async () => {
    const [one, other] = [await provider(), await provider()];
    const member = (name: string, model: LanguageModelObject): Persona =>
      persona(name, { instructions: "Work.", model });
    const team = defineTeam("two", {
      phases: [
        phase("work", { personas: [member("a", one.acme("large")), member("b", other.acme("large"))] }),
      ],
    });
    const maestro = await new TeamPlace().open();
    expect(await (await maestro.start(team, { brief: "x" })).result()).toMatchObject({ status: "completed" });
    expect(one.paid.log.map(({ persona }) => persona)).toEqual(["a"]);
    expect(other.paid.log.map(({ persona }) => persona)).toEqual(["b"]);
  });

  test("serves a resume in a new process of the program, which asks for no recorded answer again", async () => {
    const { paid, acme } = await provider((asked) =>
      asked.answersBefore === 0
        ? calls("write_file", { path: "a.txt", content: "a\n" })
        : calls("submit", { summary: "done" }),
    );
    const place = new TeamPlace();
    const first = await place.open();
    let closing: Promise<void> | undefined;
    paid.onAnswer = ({ answersBefore }) => {
      if (answersBefore === 1) closing ??= first.close();
    };
    const { id } = await first.start(teamOf({ model: acme("large") }), { brief: "x" });
    await expect.poll(() => closing !== undefined).toBe(true);
    await closing;
    const second = await place.open({ teams: [teamOf({ model: acme("large") })] });
    expect(await (await second.resume(id)).result()).toMatchObject({ status: "completed" });
    expect(paid.log.filter(({ answersBefore }) => answersBefore === 0)).toHaveLength(1);
  });

  test("works in a team whose functions run in processes of their own", async () => {
    const { paid, acme } = await provider();
    const team = isolatedTeam(teamOf({ model: acme("large") }), "/nowhere/team.ts", {
      memoryMb: 256,
    } as never);
    const maestro = await new TeamPlace().open();
    expect(await (await maestro.start(team, { brief: "x" })).result()).toMatchObject({ status: "completed" });
    expect(paid.log).toHaveLength(1);
  });

  test("is missing where the program does not run: its name is all that the session recorded", async () => {
    const { acme } = await provider();
    const place = new TeamPlace();
    const first = await place.open();
    const { id } = await first.create(teamOf({ model: acme("large") }), { brief: "x" });
    await first.close();
    const result = await (await (await place.open()).resume(id)).result();
    expect(result.status).not.toBe("completed");
    expect(JSON.stringify(result)).toContain(
      'The model \\"acme/large\\" has no provider that Maestro knows.',
    );
  });

  test.each([
    [
      "without a method",
      { specificationVersion: "v4", provider: "a", modelId: "b" },
      "is no language model of the AI SDK: doGenerate, doStream missing.",
    ],
    [
      "of another kind",
      { modelId: 5 },
      "specificationVersion, provider, modelId, doGenerate, doStream missing.",
    ],
    [
      "whose name is no name",
      { specificationVersion: "v4", provider: "a b", modelId: "c", doGenerate: () => {}, doStream: () => {} },
      "make no name like provider/model",
    ],
    [
      "that calls itself simulated",
      {
        specificationVersion: "v4",
        provider: "simulated",
        modelId: "simulated",
        doGenerate: () => {},
        doStream: () => {},
      },
      "make no name like provider/model",
    ],
    ["that is no object", 5, "it must be provider/model"],
  ])("%s is an error of the team", (_title, model, problem) => {
    expect(() => teamOf({ model: model as never })).toThrow(problem);
  });

  test("twice in the list of models to try is an error, also as an object and a name", () => {
    const model = createOpenAI({ apiKey: "x" })("gpt-5");
    expect(() => teamOf({ model, fallbackModels: ["openai/gpt-5"] })).toThrow(
      'fallbackModels[0] is "openai/gpt-5", which was tried before it.',
    );
  });
});
