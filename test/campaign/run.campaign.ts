import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { conduct } from "./campaign.ts";
import { listed } from "./campaigns.ts";

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
const campaign = listed.find((each) => each.name === name);
// Trials register hooks, which is only possible before the test begins.
for (const part of campaign?.parts ?? []) await part.load();

test(`campaign ${name} breaks no promise`, async () => {
  if (campaign === undefined) throw new Error(`There is no campaign ${name}.`);
  const report = (text: string) => console.log(text);
  const { isClean, line } = await conduct(name, campaign.parts, { ...options, report });
  writeFileSync(resultFile, line);
  expect(isClean, line).toBe(true);
});
