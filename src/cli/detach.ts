import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { newId } from "../domain/ids.ts";
import { packageFile } from "../package-files.ts";
import { exitCodes } from "./exit-code.ts";
import { withMaestro } from "./open.ts";
import { commandLine, print, printJson, say } from "./output.ts";
import type { RunOptions } from "./run-options.ts";
import type { Begun } from "./starter.ts";

/** Of a file, less its ending: keys may be longer than file systems like. */
const longestName = 120;
/** The entry file, as a user starts it. */
export const entryFile = fileURLToPath(packageFile("bin/maestro.cjs"));

/** The same run in a process of its own that outlives this one; ends when the session exists. */
export async function detach(brief: string, options: RunOptions): Promise<void> {
  const { stateDir, json } = options;
  const key = options.key ?? `run-${newId()}`;
  await withMaestro(options, async (maestro) => {
    const folder = join(maestro.stateDirectory, "logs");
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const log = join(folder, `${key.replaceAll(/[^\w.-]/g, "_").slice(0, longestName)}.log`);
    const handle = await open(log, "a", 0o600);
    const begins = (await handle.stat()).size;
    // By the name it has here, so that the commands in its log can be pasted here too.
    const script = process.argv[1] ?? entryFile;
    const child = spawn(process.execPath, [script, "run", brief, ...flagsOf({ ...options, key })], {
      detached: true,
      stdio: ["ignore", handle.fd, handle.fd, "ipc"],
    });
    await handle.close();
    // Only the child knows which session it drives: one with the same key may be somebody else's.
    const begun = once(child, "message").then(([message]) => ({ id: (message as Begun).begun }));
    const exited = once(child, "exit").then(([code]) => ({ code: code as number | null }));
    const first = await Promise.race([begun, exited]);
    if ("code" in first) {
      process.exitCode = first.code ?? exitCodes.failed;
      const said = (await readFile(log)).subarray(begins).toString().trim();
      return say(said === "" ? `The run in the background ended before it began; see ${log}.` : said);
    }
    child.disconnect();
    child.unref();
    if (json) return printJson({ id: first.id, key, pid: child.pid, log });
    print(`Session ${first.id} runs in the background (process ${child.pid}); it writes to ${log}.`);
    say(`Watch it with: ${commandLine("watch", key, stateDir)}`);
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
