import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { conduct } from "./campaign.ts";
import { campaigns } from "./campaigns.ts";

/** Written by scripts/campaign.mjs. */
interface Order {
  readonly name: string;
  readonly seed: number;
  readonly minutes: number;
  readonly trials: number;
  readonly together: number;
  /** Receives the last line. */
  readonly resultFile: string;
}

const { name, resultFile, ...options } = JSON.parse(process.env["TEST_CAMPAIGN"] ?? "") as Order;
const campaign = campaigns.find((each) => each.name === name);
// Trials register hooks, which is only possible before the test begins.
await campaign?.load();

test(`campaign ${name} breaks no promise`, async () => {
  if (campaign === undefined) throw new Error(`There is no campaign ${name}.`);
  const { isClean, line } = await conduct(campaign, { ...options, report: (text) => console.log(text) });
  writeFileSync(resultFile, line);
  expect(isClean, line).toBe(true);
});
