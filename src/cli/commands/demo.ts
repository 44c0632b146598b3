import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { SessionFailed } from "../../domain/errors.ts";
import type { SessionEvent } from "../../index.ts";
import { effectsFile } from "../demo/effects.ts";
import { type GlobalOptions, withMaestro } from "../open.ts";
import { print, printJson, say } from "../output.ts";
import { progressLine } from "../progress.ts";

const key = "demo";
/** In the middle of implementation: one file of it is recorded, two are not. */
const killAfterStep = "write src/code.mjs";

/** Runs the demo's team in a process of its own, kills that process for real, and goes on in a new one. */
export async function demo(options: GlobalOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "maestro-demo-"));
  const place = { project: join(folder, "project"), stateDir: options.stateDir ?? join(folder, "state") };
  say(
    "A team of five phases builds a URL shortener. No model is asked: its personas are code. Their files and tests are real.\n",
  );
  const first = await runUntil(place, (event) => event.kind === "step" && event.name === killAfterStep);
  if (!first.killed)
    throw new SessionFailed("The demo's team ended before it could be killed.", {
      details: { code: first.code },
    });
  const kept = await recordedSteps(place);
  say(
    `\n*** kill -9 ${first.pid}: the process is gone in the middle of implementation ***\n*** a new process goes on ***\n`,
  );
  const second = await runUntil(place, () => false);
  if (second.code !== 0)
    throw new SessionFailed(`The demo's team did not finish; its process ended with ${second.code}.`);
  const steps = await recordedSteps(place);
  // Every file written and every test run left a line; more lines than steps would mean that something ran twice.
  const effects = (await readFile(effectsFile(place.project), "utf8")).trim().split("\n");
  summarize({ kept, steps, ranAgain: effects.length - steps }, place, options);
}

interface Place {
  readonly project: string;
  readonly stateDir: string;
}

interface Run {
  readonly pid: number;
  readonly killed: boolean;
  readonly code: number | null;
}

async function runUntil(
  { project, stateDir }: Place,
  isTheMoment: (event: SessionEvent) => boolean,
): Promise<Run> {
  const program = fileURLToPath(new URL(`../demo/child${extname(import.meta.url)}`, import.meta.url));
  const child = spawn(process.execPath, [program, project, stateDir, key], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit") as Promise<[number | null]>;
  let killed = false;
  for await (const line of createInterface({ input: child.stdout })) {
    const event = JSON.parse(line) as SessionEvent;
    const text = progressLine(event);
    if (text !== undefined) say(text);
    // What was on its way when the process died is shown too: it was recorded.
    if (!killed && isTheMoment(event)) killed = child.kill("SIGKILL");
  }
  const [code] = await exited;
  return { pid: child.pid ?? 0, killed, code };
}

function recordedSteps({ stateDir }: Place): Promise<number> {
  return withMaestro({ stateDir }, async (maestro) => (await maestro.show(key)).steps);
}

interface Counts {
  readonly kept: number;
  readonly steps: number;
  readonly ranAgain: number;
}

function summarize(counts: Counts, { project, stateDir }: Place, { json }: GlobalOptions): void {
  if (json) return printJson({ ...counts, project, stateDir });
  print(`
Done. ${counts.kept} of ${counts.steps} steps were recorded before the kill; ${counts.ranAgain} of them ran again.
The project: ${project}

Try next:
  npx maestro show ${key} --state-dir ${stateDir}
  npx maestro checkpoints ${key} --state-dir ${stateDir}
  (cd ${project} && node --test)`);
}
