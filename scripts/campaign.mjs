// `npm run campaign -- <name>`: runs random trials of one kind, or `hostile` of all kinds, and ends with one line of results.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { listed } from "../test/campaign/campaigns.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const usage = `Usage: npm run campaign -- <name> [options]
       npm run campaign -- list

  --minutes <n>   run new trials for this long (default 5; with --trials, until all have ended)
  --seed <n>      the first trial's seed; each trial adds one (default: random)
  --trials <n>    stop after this many trials
  --together <n>  trials at the same time (default: one per core)
`;

process.exitCode = main();

function main() {
  let parsed;
  try {
    const text = { type: "string" };
    const options = { minutes: text, seed: text, trials: text, together: text };
    parsed = parseArgs({ allowPositionals: true, options });
  } catch (error) {
    process.stderr.write(`${error.message}\n${usage}`);
    return 2;
  }
  const [name = "list"] = parsed.positionals;
  if (name === "list") {
    process.stdout.write(`${usage}\n`);
    const width = Math.max(...listed.map((each) => each.name.length)) + 2;
    for (const each of listed) process.stdout.write(`  ${each.name.padEnd(width)}${each.about}\n`);
    return 0;
  }
  if (!listed.some((each) => each.name === name)) {
    process.stderr.write(`There is no campaign "${name}".\n${usage}`);
    return 2;
  }
  const { minutes, seed, trials, together } = parsed.values;
  return run({
    name,
    minutes: numberOr(minutes, trials === undefined ? 5 : Number.MAX_SAFE_INTEGER),
    seed: numberOr(seed, Math.floor(Math.random() * 2 ** 32)),
    trials: numberOr(trials, Number.MAX_SAFE_INTEGER),
    together: numberOr(together, availableParallelism()),
  });
}

function numberOr(text, otherwise) {
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isFinite(value) || value < 0) throw new Error(`Not a number: ${text}`);
  return value;
}

function run(order) {
  const folder = mkdtempSync(join(tmpdir(), "maestro-campaign-"));
  try {
    const resultFile = join(folder, "result");
    const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
    const args = [
      "run",
      "--config",
      "test/campaign/vitest.config.ts",
      "--reporter=dot",
      "--disable-console-intercept",
    ];
    const { status } = spawnSync(process.execPath, [vitest, ...args], {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, TEST_CAMPAIGN: JSON.stringify({ ...order, resultFile }) },
    });
    const line = existsSync(resultFile)
      ? readFileSync(resultFile, "utf8")
      : `campaign ${order.name}: ended early`;
    process.stdout.write(`\n${line}\n`);
    return status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
