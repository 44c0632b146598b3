import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { requireFreshBuild } from "./built-package.ts";
import { bigTeam } from "./measure-big-team.ts";
import { commands } from "./measure-commands.ts";
import { crash } from "./measure-crash.ts";
import { growth } from "./measure-growth.ts";
import { intake } from "./measure-intake.ts";
import { loopDelay, manySessions } from "./measure-many-sessions.ts";
import { memory, waiting } from "./measure-memory.ts";
import { messages } from "./measure-messages.ts";
import { oneSession } from "./measure-one-session.ts";
import { sealed } from "./measure-sealed.ts";
import { start } from "./measure-start.ts";
import type { Measured, Row } from "./measurement.ts";
import { formatTable } from "./table.ts";

const measurements = [
  oneSession,
  manySessions,
  loopDelay,
  growth,
  crash,
  sealed,
  start,
  commands,
  memory,
  waiting,
  messages,
  bigTeam,
  intake,
];
const names = measurements.map(({ name }) => name);

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, only: { type: "string", multiple: true } },
});
const unknown = (values.only ?? []).filter((name) => !names.includes(name));
if (unknown.length > 0) throw new Error(`--only ${unknown.join(", ")}: choose from ${names.join(", ")}`);
requireFreshBuild();

/** Beside the sources: /tmp may be in memory, where nothing is durable and every write is fast. */
const data = fileURLToPath(new URL(".data/", import.meta.url));
const results: Record<string, Measured> = {};
try {
  mkdirSync(data, { recursive: true });
  for (const { name, run } of measurements) {
    if (values.only !== undefined && !values.only.includes(name)) continue;
    const began = performance.now();
    process.stderr.write(`${name} ...`);
    results[name] = await run({ newDirectory: () => mkdtempSync(`${data}/${name}-`), quick: values.quick });
    process.stderr.write(` ${((performance.now() - began) / 1_000).toFixed(1)} s\n`);
    rmSync(data, { recursive: true, force: true });
    mkdirSync(data, { recursive: true });
  }
} finally {
  rmSync(data, { recursive: true, force: true });
}

const rows: Row[] = Object.values(results).flatMap((measured) => measured.rows);
const machine = {
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
  processors: availableParallelism(),
  processor: cpus()[0]?.model.trim(),
  memoryGigabytes: Math.round(totalmem() / 2 ** 30),
};
// A partial run does not replace the results of a full one.
const isFull = !values.quick && values.only === undefined;
if (isFull)
  writeFileSync(
    new URL("results.json", import.meta.url),
    `${JSON.stringify({ machine, results }, null, 2)}\n`,
  );

const lines = rows.map(({ what, value, limit, ratio = "", target, met }) => [
  what,
  value,
  `${limit.toFixed(0)} /s`,
  ratio,
  target,
  met ? "yes" : "NO",
]);
const headings = ["what", "value", "disk limit", "ratio", "target", "met"];
const missed = rows.filter(({ met }) => !met).map(({ what }) => what);
process.stdout.write(`${formatTable(headings, lines)}\n\n`);
process.stdout.write(
  missed.length === 0
    ? `All ${rows.length} targets met.\n`
    : `${missed.length} of ${rows.length} targets missed: ${missed.join("; ")}. Other work on the machine makes times longer: run it alone to tell.\n`,
);
