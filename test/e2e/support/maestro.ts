import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";

/** A link in a folder of the PATH, as npm makes it for a global installation. */
const onPath = mkdtempSync(join(tmpdir(), "maestro-on-path-"));
const command = join(onPath, "maestro");
symlinkSync(join(import.meta.dirname, "../../../bin/maestro.cjs"), command);
afterAll(() => rmSync(onPath, { recursive: true, force: true }));

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "maestro-e2e-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The built command, as a user runs it. */
export function start(
  args: readonly string[],
  env: Record<string, string> = {},
): { child: ChildProcess; finished: Promise<Finished>; output(): string } {
  const child = spawn(process.execPath, [command, ...args], {
    env: { ...process.env, PATH: `${onPath}:${process.env["PATH"]}`, ...env },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  onTestFinished(() => {
    if (child.exitCode === null) child.kill("SIGKILL");
  });
  const finished = once(child, "close").then(([code]) => ({ code: code as number | null, stdout, stderr }));
  return { child, finished, output: () => stdout + stderr };
}

export function maestro(args: readonly string[], env?: Record<string, string>): Promise<Finished> {
  return start(args, env).finished;
}
