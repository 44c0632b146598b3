import { describe, expect, it } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { answer, ask, ownModel } from "./own-models.ts";
import { TeamPlace } from "./place.ts";

describe("a token budget", () => {
  /** Bills what the densest text there is would be billed for. */
  const perByte = ownModel(async ({ prompt }) => answer(Buffer.byteLength(JSON.stringify(prompt)), 1));

  const crowd = (tokens: number, members: number) =>
    defineTeam("dense", {
      budget: { tokens },
      phases: [
        phase("all", {
          personas: Array.from({ length: members }, (_, index) =>
            persona(`member-${index}`, {
              run: async (context) => {
                await ask(perByte, context, `${index}${"\u{12000}".repeat(12_000)}`);
                return { summary: "done" };
              },
            }),
          ),
        }),
      ],
    });

  it("is never exceeded, even by texts in which every byte is billed as a token", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(crowd(100_000, 4), { brief: "b" });
    expect(await session.result()).toMatchObject({ status: "parked", reason: "budget" });
    const { budgets } = await maestro.show(session.id);
    expect(budgets[0]?.overrun).toBe(false);
    expect(budgets[0]?.used.tokens).toBeLessThanOrEqual(100_000);
    expect(budgets[0]?.used.tokens).toBeGreaterThan(48_000);
  });

  it("that fits one call at a time is enough: parallel calls wait for each other", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(crowd(196_000, 4), { brief: "b" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect((await maestro.show(session.id)).budgets[0]).toMatchObject({ overrun: false });
  });
});

describe("an agent's command under a budget", () => {
  const report = JSON.stringify({
    type: "turn.completed",
    usage: { input_tokens: 600_000, cached_input_tokens: 0, output_tokens: 10 },
  });
  const agent = (reserve?: { tokens?: number; usd?: number }) =>
    defineTeam("agents", {
      phases: [
        phase("work", {
          personas: [
            persona("agent", {
              instructions: "Do it.",
              command: ["node", "-e", `console.log(${JSON.stringify(report)})`],
              ...(reserve && { reserve }),
            }),
          ],
        }),
      ],
    });

  it.each([
    ["the start", { budget: { tokens: 1_000 } }, {}],
    ["the start, in dollars", { budget: { usd: 1 } }, {}],
    ["the configuration", {}, { budget: { personaTokens: 10 } }],
    ["the day", {}, { budget: { dayUsd: 0.01 } }],
  ])("does not run without a reserve, for any source of the budget: %s", async (_, start, config) => {
    const place = new TeamPlace();
    const maestro = await place.open(config);
    const session = await maestro.start(agent(), { brief: "b", ...start });
    const { status, reason, error } = await session.result();
    expect([status, reason]).toEqual(["parked", "budget"]);
    expect(error?.advice).toMatch(/reserve: \{ (?:tokens: <n>|usd: <x>) \}/);
    expect((await maestro.show(session.id)).usage.calls).toBe(0);
  });

  it("runs with a reserve, and is refused where the rest of the budget is smaller", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const start = (tokens: number) =>
      maestro.start(agent({ tokens: 700_000 }), { brief: "b", budget: { tokens } });
    expect(await (await start(700_000)).result()).toMatchObject({ status: "completed" });
    expect(await (await start(699_999)).result()).toMatchObject({ status: "parked", reason: "budget" });
  });

  it("with an unknown price costs an unknown amount, not zero", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(agent(), { brief: "b" });
    await session.result();
    const { usage } = await maestro.show(session.id);
    expect(usage).toMatchObject({
      costUsd: null,
      unpricedCalls: 1,
      unreportedCalls: 0,
      inputTokens: 600_000,
    });
  });

  it("that reports no usage counts as an unknown number of tokens, not zero", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const silent = defineTeam("silent", {
      phases: [
        phase("work", {
          personas: [persona("agent", { instructions: "Do it.", command: ["node", "-e", "0"] })],
        }),
      ],
    });
    const session = await maestro.start(silent, { brief: "b" });
    await session.result();
    const { usage } = await maestro.show(session.id);
    expect(usage).toMatchObject({ calls: 1, costUsd: null, unpricedCalls: 1, unreportedCalls: 1 });
  });
});

describe("a call without a known price", () => {
  const unknown = { ...ownModel(async () => answer(100, 10)), provider: "somebody.chat", modelId: "large" };
  const team = (budget?: { usd: number }) =>
    defineTeam("unpriced", {
      ...(budget && { budget }),
      phases: [
        phase("work", {
          personas: [
            persona("asker", {
              run: async (context) => {
                await ask(unknown, context, "hello");
                return { summary: "done" };
              },
            }),
          ],
        }),
      ],
    });

  it("is refused under a dollar budget, and passes after the advice is followed", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(team({ usd: 1 }), { brief: "b" });
    const { error } = await session.result();
    expect(error?.advice).toContain("--usd none --tokens <n>");
    await maestro.setBudget(session.id, { usd: null, tokens: 100_000 });
    expect(await (await maestro.resume(session.id)).result()).toMatchObject({ status: "completed" });
    const { budgets } = await maestro.show(session.id);
    expect(budgets).toMatchObject([{ limit: { tokens: 100_000, usd: null } }]);
  });

  it("passes as free when the configuration allows it", async () => {
    const place = new TeamPlace();
    const maestro = await place.open({ budget: { unpriced: "allow" } });
    const session = await maestro.start(team({ usd: 1 }), { brief: "b" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect((await maestro.show(session.id)).budgets[0]?.used).toMatchObject({ usd: null });
  });

  it("that was made before a day's budget was set gets advice about the day", async () => {
    const place = new TeamPlace();
    const first = await place.open();
    await (await first.start(team(), { brief: "b" })).result();
    const limited = await place.open({ budget: { dayUsd: 5 } });
    const session = await limited.start(team(), { brief: "b" });
    const { error } = await session.result();
    expect(error?.details).toMatchObject({ level: "day" });
    expect(error?.advice).toMatch(/MAESTRO_UNPRICED=allow.*next day/);
    expect(error?.advice).not.toContain("maestro budget");
  });
});

describe("the simulated model", () => {
  it("does not use the day's budget, which counts real money", async () => {
    const place = new TeamPlace();
    const maestro = await place.open({ budget: { dayUsd: 0.01, dayTokens: 10 } });
    const team = defineTeam("pretend", {
      model: "simulated",
      phases: [phase("work", { personas: [persona("actor", { instructions: "Pretend." })] })],
    });
    const session = await maestro.start(team, { brief: "b" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    const { usage, budgets } = await maestro.show(session.id);
    expect(usage.simulatedCalls).toBe(usage.calls);
    expect(usage.simulatedUsd).toBe(usage.costUsd);
    expect(budgets).toMatchObject([{ level: "day", used: { tokens: 0, usd: 0 } }]);
  });

  it("is recognized by the model that was called, not by the model of the session", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = (withReal: boolean) =>
      defineTeam(withReal ? "mixed" : "pretend", {
        model: "anthropic/claude-sonnet-4-5",
        phases: [
          phase("work", {
            personas: [
              persona("actor", { instructions: "Pretend.", model: "simulated" }),
              ...(withReal
                ? [
                    persona("real", {
                      run: async (context) => {
                        await ask(
                          ownModel(async () => answer(8_000, 0)),
                          context,
                          "q",
                        );
                        return { summary: "done" };
                      },
                    }),
                  ]
                : []),
            ],
          }),
        ],
      });
    const shown = async (withReal: boolean) => {
      const session = await maestro.start(team(withReal), { brief: "b" });
      await session.result();
      return maestro.show(session.id);
    };
    expect(await shown(false)).toMatchObject({ simulated: true });
    const mixed = await shown(true);
    expect(mixed.simulated).toBe(false);
    expect(mixed.usage.simulatedCalls).toBe(mixed.usage.calls - 1);
    expect((mixed.usage.costUsd ?? 0) - mixed.usage.simulatedUsd).toBeCloseTo(0.01, 9);
  });
});
