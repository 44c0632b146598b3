import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { defineTeam, durableModel, type PersonaFunction, persona, phase } from "../../../src/index.ts";
import type { CallOptions } from "../../../src/personas/model/sdk-types.ts";
import { answer, ask, ownModel } from "./own-models.ts";
import { TeamPlace } from "./place.ts";

const teamOf = (run: PersonaFunction, tokens?: number) =>
  defineTeam("own", {
    ...(tokens !== undefined && { budget: { tokens } }),
    phases: [phase("work", { personas: [persona("agent", { run })] })],
  });

/** Answers only when it is told to stop. */
const endless = (onAsked: () => void = () => {}) =>
  ownModel(({ abortSignal }: CallOptions) => {
    onAsked();
    return new Promise((_, reject) =>
      abortSignal?.addEventListener("abort", () => reject(abortSignal.reason as Error)),
    );
  });

describe("an answer that cannot be recorded", () => {
  it("is paid for, and its reservation blocks no other call", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    let deep = {};
    for (let level = 0; level < 300; level += 1) deep = { a: deep };
    const odd = ownModel(async () => ({ ...answer(10, 5), providerMetadata: { openai: deep } }));
    const team = teamOf(async (context) => {
      await ask(odd, context, "q", 100);
      return { summary: "never" };
    }, 3_000);
    const session = await maestro.start(team, { brief: "b" });
    expect(await session.result()).toMatchObject({ status: "parked", reason: "help" });
    const { usage, budgets } = await maestro.show(session.id);
    expect(usage).toMatchObject({ calls: 6, failedCalls: 6, inputTokens: 60, outputTokens: 30 });
    expect(budgets[0]?.reserved.tokens).toBe(0);
  });
});

describe("a call that its caller abandons", () => {
  it("does not count for the breaker, which stays closed", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const names: string[] = [];
    const team = teamOf(async (context) => {
      const model = durableModel(endless(), context);
      for (let call = 0; call < 6; call += 1) {
        const stop = new AbortController();
        const asked = model.doGenerate({
          prompt: [{ role: "user", content: [{ type: "text", text: `q${call}` }] }],
          abortSignal: stop.signal,
        });
        await sleep(20);
        stop.abort();
        await Promise.resolve(asked).catch(({ name }: Error) => names.push(name));
      }
      return { summary: "done" };
    });
    const session = await maestro.start(team, { brief: "b" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(names).toEqual(Array(6).fill("AbortError"));
    for (const { record } of await maestro.breakers()) expect(record.state).toMatchObject({ failures: 0 });
    expect((await maestro.show(session.id)).usage).toMatchObject({ calls: 6, unreportedCalls: 6 });
  });
});

describe("a call that is running when its session stops", () => {
  it.each(["canceled", "closed"])("counts as estimated at once, also without a resume: %s", async (how) => {
    const place = new TeamPlace();
    const maestro = await place.open();
    let asked = () => {};
    const underWay = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const team = teamOf(async (context) => {
      await ask(endless(asked), context, "q");
      return { summary: "never" };
    }, 100_000);
    const session = await maestro.start(team, { brief: "b" });
    await underWay;
    if (how === "canceled") {
      await maestro.cancel(session.id);
      await session.result();
    } else await maestro.close();
    const later = how === "canceled" ? maestro : await place.open();
    const { usage, budgets } = await later.show(session.id);
    expect(usage).toMatchObject({ calls: 1, unreportedCalls: 1 });
    expect(usage.estimatedTokens).toBeGreaterThan(0);
    expect(budgets[0]).toMatchObject({ reserved: { tokens: 0 }, used: { tokens: usage.estimatedTokens } });
  });
});
