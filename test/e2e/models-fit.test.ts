import { expect, test } from "vitest";
import { defineTeam, persona, phase } from "../../src/index.ts";
import { attemptsOf, calls, ModelHive, protocols, writesThenSubmits } from "../support/model-hive.ts";

const team = (tokens: number) =>
  defineTeam("fit", {
    phases: [
      phase("only", {
        personas: [persona("writer", { instructions: "Write it.", budget: { tokens }, maxAttempts: 3 })],
      }),
    ],
  });

const limitOf = ({ body }: { readonly body: Record<string, unknown> }): number =>
  Number(
    body["max_tokens"] ??
      body["max_output_tokens"] ??
      (body["generationConfig"] as Record<string, unknown> | undefined)?.["maxOutputTokens"],
  );

test.each(protocols)("a budget of 9,000 tokens buys work of %s", async (model) => {
  const hive = await ModelHive.open(({ answersBefore }) => writesThenSubmits(answersBefore));
  const ended = await hive.run(team(9_000), { model });
  expect(ended.result.status).toBe("completed");
  const limits = hive.models.server.requests.map(limitOf);
  expect(limits).toHaveLength(2);
  for (const limit of limits) expect(limit).toBeGreaterThanOrEqual(1_024);
  expect(Math.min(...limits), "the output shrank to what was left").toBeLessThan(8_192);
});

test.each(protocols)(
  "an answer of %s that is cut by the budget parks it, uses up no attempt and no healer, and is requested again after a raise",
  async (model) => {
    const hive = await ModelHive.open(({ answersBefore, number }) => {
      const limit = limitOf(hive.models.server.requests.at(-1) as never);
      if (answersBefore === 0 && limit < 8_192)
        return {
          text: "This is going to be lo",
          cutAtLimit: true,
          usage: { input: 1_000 + number, cached: 0, cacheWrite: 0, output: limit, reasoning: 0 },
        };
      return answersBefore === 0
        ? calls("write_file", { path: "a.txt", content: "a\n" })
        : calls("submit", { summary: "done" });
    });
    const parked = await hive.run(team(9_000), { model });
    expect(parked.result).toMatchObject({ status: "parked", reason: "budget" });
    expect(parked.result.error?.message).toContain("which was cut there");
    expect(attemptsOf(parked, "writer")).toMatchObject([{ at: "1.1", status: "running", healing: [] }]);
    expect(hive.models.log).toHaveLength(1);
    const cut = hive.models.server.requests.map(limitOf)[0] ?? 0;
    const [budget] = await hive.maestro.budgets(parked.result.id);
    expect(budget?.used.tokens, "the cut answer stays booked").toBe(1_001 + cut);

    const again = await (await hive.maestro.resume(parked.result.id)).result();
    expect(again, "without a raise nothing is asked for").toMatchObject({ reason: "budget" });
    expect(hive.models.log).toHaveLength(1);

    await hive.maestro.setBudget(parked.result.id, { persona: "writer", tokens: 1_000_000 });
    const ended = await hive.ended(await (await hive.maestro.resume(parked.result.id)).result());
    expect(ended.result.status).toBe("completed");
    expect(attemptsOf(ended, "writer")).toMatchObject([{ at: "1.1", status: "completed", healing: [] }]);
    expect(hive.models.server.requests.map(limitOf)).toEqual([cut, 8_192, 8_192]);
    expect(ended.view.usage.outputTokens).toBeGreaterThan(cut);
  },
);
