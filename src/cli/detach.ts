import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { newId } from "../domain/ids.ts";
import { packageFile } from "../package-files.ts";
import { flagsOf } from "./define/command.ts";
import { exitCodes } from "./exit-code.ts";
import type { LogFlags } from "./log-flags.ts";
import { type GlobalOptions, withMaestro } from "./open.ts";
import { print, printJson, say, sayCommand } from "./output.ts";

/** The message of a background run to the process that started it. */
interface Begun {
  readonly begun: string;
}

export function tellStarter(id: string): void {
  if (process.connected) process.send?.({ begun: id } satisfies Begun);
}

/** Limit for file names, without extension: keys can be longer than file systems allow. */
const longestName = 120;
export const entryFile = fileURLToPath(packageFile("bin/maestro.cjs"));

/** Starts the same run in a process that outlives this one, and returns when the session exists. */
export async function detach(
  brief: string,
  options: GlobalOptions & LogFlags & { readonly key?: string },
  command: Command,
): Promise<void> {
  const { stateDir, json, logFormat = "text" } = options;
  const key = options.key ?? `run-${newId()}`;
  await withMaestro(options, async (maestro) => {
    const folder = join(maestro.stateDirectory, "logs");
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const log = join(folder, `${key.replaceAll(/[^\w.-]/g, "_").slice(0, longestName)}.log`);
    const handle = await open(log, "a", 0o600);
    const begins = (await handle.stat()).size;
    // Use the command name of this process, so that the commands in its log can be pasted here.
    const script = process.argv[1] ?? entryFile;
    const flags = flagsOf(command, { ...options, key, logFormat, detach: false, json: false });
    const child = spawn(process.execPath, [script, command.name(), brief, ...flags], {
      detached: true,
      stdio: ["ignore", handle.fd, handle.fd, "ipc"],
    });
    await handle.close();
    // Only the child knows its session: another process may have created one with the same key.
    const begun = once(child, "message").then(([message]) => ({ id: (message as Begun).begun }));
    const exited = once(child, "exit").then(([code]) => ({ code: code as number | null }));
    const first = await Promise.race([begun, exited]);
    if ("code" in first) {
      process.exitCode = first.code ?? exitCodes.failed;
      const said = (await readFile(log)).subarray(begins).toString().trim();
      return say(said === "" ? `The background run ended before its session started; see ${log}.` : said);
    }
    child.disconnect();
    child.unref();
    if (json) return printJson({ id: first.id, key, pid: child.pid, log });
    print(`Session ${first.id} runs in the background (process ${child.pid}); its log is ${log}.`);
    sayCommand("Watch it with", stateDir, "watch", key);
  });
}
