import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { runChild } from "./child.ts";
import { medianLimit, onceWithLimit, type Window, withLimit } from "./limit.ts";
import type { Measurement, Row } from "./measurement.ts";
import { median } from "./statistics.ts";

const entry = fileURLToPath(new URL("../bin/maestro.cjs", import.meta.url));
const sessions = 10_000;
const targets = { versionMs: 100, sessionsMs: 200, demoMs: 60_000 };

interface Times {
  /** Node alone: the lower bound, which is slower on a busy machine too. */
  readonly nodeMs: number;
  readonly versionMs: number;
  readonly sessionsMs: number;
}

/** From the start of the process to its end, as a person at a prompt waits for it. */
export const commands: Measurement = {
  name: "commands",
  async run({ newDirectory, quick }) {
    const stateDir = newDirectory();
    await runChild("recorded-sessions.ts", [stateDir, sessions]);
    const list = [entry, "sessions", "--state-dir", stateDir];
    const windows = await withLimit(newDirectory(), { windows: quick ? 5 : 15, limitMs: 50 }, async () => ({
      nodeMs: timed(["-e", "0"], /^$/),
      versionMs: timed([entry, "--version"], /^\d+\.\d+\.\d+\n$/),
      sessionsMs: timed(list, new RegExp(`order-${sessions}\\b`)),
    }));
    const demo = await onceWithLimit(newDirectory(), () =>
      timed([entry, "demo", "--json", "--out", newDirectory()], /"status":"completed"/),
    );
    const rows = [
      row("maestro --version", windows, "versionMs"),
      row(`maestro sessions, ${sessions.toLocaleString("en-US")} sessions`, windows, "sessionsMs"),
      {
        what: "maestro demo, from start to end",
        value: `${(demo.value / 1_000).toFixed(0)} s`,
        limit: demo.limit,
        target: `under ${targets.demoMs / 1_000} s`,
        met: demo.value < targets.demoMs,
      },
    ];
    return { rows, raw: { windows, demo } };
  },
};

function row(what: string, windows: readonly Window<Times>[], which: "versionMs" | "sessionsMs"): Row {
  const tookMs = median(windows.map(({ value }) => value[which]));
  const times = median(windows.map(({ value }) => value[which] / value.nodeMs));
  return {
    what,
    value: `${tookMs.toFixed(0)} ms`,
    limit: medianLimit(windows),
    ratio: `${times.toFixed(1)} x node`,
    target: `under ${targets[which]} ms`,
    met: tookMs < targets[which],
  };
}

/** A command that fails early would look fast. */
function timed(args: readonly string[], expected: RegExp): number {
  const began = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  const tookMs = performance.now() - began;
  if (status !== 0 || !expected.test(stdout))
    throw new Error(`node ${args.join(" ")} ended with ${status}: ${stdout}${stderr}`);
  return tookMs;
}
