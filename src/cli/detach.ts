import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SessionFailed } from "../domain/errors.ts";
import { newId } from "../domain/ids.ts";
import { packageFile } from "../package-files.ts";
import { withMaestro } from "./open.ts";
import { commandLine, print, printJson, say } from "./output.ts";
import type { RunOptions } from "./run-options.ts";

const lookEveryMs = 50;
/** The entry file, as a user starts it. */
export const entryFile = fileURLToPath(packageFile("bin/maestro.cjs"));

/** The same run in a process of its own that outlives this one; ends when the session exists. */
export async function detach(brief: string, options: RunOptions): Promise<void> {
  const { stateDir, json } = options;
  const key = options.key ?? `run-${newId()}`;
  await withMaestro(options, async (maestro) => {
    const folder = join(maestro.stateDirectory, "logs");
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const log = join(folder, `${key.replaceAll(/[^\w.-]/g, "_")}.log`);
    const handle = await open(log, "a", 0o600);
    const child = spawn(process.execPath, [entryFile, "run", brief, ...flagsOf({ ...options, key })], {
      detached: true,
      stdio: ["ignore", handle.fd, handle.fd],
    });
    await handle.close();
    let ended: number | null | undefined;
    const exited = once(child, "exit").then(([code]) => {
      ended = code as number | null;
    });
    for (;;) {
      const session = await maestro.find(key).catch(() => undefined);
      if (session !== undefined) {
        child.unref();
        if (json) printJson({ id: session.id, key, pid: child.pid, log });
        else {
          print(`Session ${session.id} runs in the background (process ${child.pid}); it writes to ${log}.`);
          say(`Watch it with: ${commandLine("watch", key, stateDir)}`);
        }
        return;
      }
      if (ended !== undefined) {
        const said = (await readFile(log, "utf8")).trim().split("\n").slice(-4).join("\n");
        throw new SessionFailed(`The run in the background ended with ${ended} before it began: ${said}`);
      }
      await Promise.race([exited, new Promise((resolve) => setTimeout(resolve, lookEveryMs))]);
    }
  });
}

function flagsOf(options: RunOptions): string[] {
  const {
    team,
    model,
    key,
    out,
    only,
    from,
    until,
    pauseAfter,
    given = [],
    budgetTokens,
    budgetUsd,
    stateDir,
  } = options;
  const flags = {
    "--team": team,
    "--model": model,
    "--key": key,
    "--out": out,
    "--only": only,
    "--from": from,
    "--until": until,
    "--pause-after": pauseAfter,
    "--budget-tokens": budgetTokens,
    "--budget-usd": budgetUsd,
    "--state-dir": stateDir,
  };
  return [
    ...Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [flag, value])),
    ...given.flatMap((pair) => ["--given", pair]),
  ];
}
