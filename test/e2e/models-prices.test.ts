import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parsePriceData } from "../../src/cost/price-data.ts";
import { priceFileName, writePriceFile } from "../../src/cost/price-file.ts";
import { defineTeam, persona, phase } from "../../src/index.ts";
import { calls, ModelHive } from "../support/model-hive.ts";

const model = "anthropic/claude-brand-new";
const team = defineTeam("asking", {
  budget: { usd: 5 },
  phases: [
    phase("only", {
      personas: [persona("asked", { instructions: "Answer.", model, maxOutputTokens: 1_000 })],
    }),
  ],
});
const submits = () => calls("submit", { summary: "done" });

const pricesOf = (input: number, output: number) => ({
  providers: parsePriceData(
    Buffer.from(
      JSON.stringify([
        {
          id: "anthropic",
          models: [
            {
              id: "claude-brand-new",
              match: { starts_with: "claude-brand-new" },
              prices: { input_mtok: input, output_mtok: output },
            },
          ],
        },
      ]),
    ),
    "test",
  ),
  from: "test",
  at: 0,
});

test("a process that runs uses updated prices from its next call on, and its ledger names the version of each", async () => {
  const hive = await ModelHive.open(submits);
  const unpriced = await hive.run(team, { key: "unpriced" });
  expect(unpriced.result).toMatchObject({ status: "parked", reason: "budget" });
  expect(hive.models.log).toEqual([]);

  const first = await writePriceFile(hive.stateDir, pricesOf(2, 4));
  const cheap = await hive.run(team, { key: "cheap" });
  expect(cheap.result.status).toBe("completed");
  // 1,001 tokens of input, of which the cache read and writes have no price of their own, and 51 of output.
  expect(cheap.view.usage).toMatchObject({
    costUsd: (1_001 * 2 + 51 * 4) / 1e6,
    prices: [first.table.version],
  });

  const second = await writePriceFile(hive.stateDir, pricesOf(20, 40));
  const dear = await hive.run(team, { key: "dear" });
  expect(dear.view.usage.prices).toEqual([second.table.version]);
  expect(dear.view.usage.costUsd).toBeGreaterThan(9 * (cheap.view.usage.costUsd ?? 0));

  const { total, rows } = await hive.maestro.usage({ by: "model" });
  expect(total.prices.toSorted()).toEqual([first.table.version, second.table.version].toSorted());
  expect(rows).toMatchObject([{ name: model, calls: 2 }]);
});

test("damaged prices are reported, and the prices of the installed package count", async () => {
  const notices: string[] = [];
  const hive = await ModelHive.open(submits, { onNotice: (notice) => notices.push(notice) });
  await writePriceFile(hive.stateDir, pricesOf(2, 4));
  writeFileSync(join(hive.stateDir, priceFileName), "{}");
  const { result, view } = await hive.run(team, { model: "anthropic/claude-sonnet-4-5" });
  expect(result).toMatchObject({ status: "parked", reason: "budget" });
  const known = defineTeam("known", {
    phases: [phase("only", { personas: [persona("asked", { instructions: "Answer." })] })],
  });
  const other = await hive.run(known, { model: "anthropic/claude-sonnet-4-5" });
  expect(other.view.usage.prices).toEqual([expect.stringMatching(/^genai-prices@\d/)]);
  expect(view.usage.calls).toBe(0);
  expect(notices.filter((notice) => notice.includes("The updated prices in"))).toHaveLength(1);
});
