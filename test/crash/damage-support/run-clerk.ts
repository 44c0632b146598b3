import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ClerkEnd, ClerkOptions } from "./clerk-work.ts";

const program = fileURLToPath(new URL("clerk.ts", import.meta.url));

/** Whether strace can inject errors here. */
export const canInject =
  spawnSync("strace", ["-f", "-qq", "-o", "/dev/null", "-e", "inject=fsync:error=EIO:when=1", "true"])
    .status === 0;

export interface Fault {
  readonly call: string;
  /** The n-th call of each thread fails. */
  readonly when: number;
  /** Only calls on this file count. */
  readonly path?: string;
  readonly error?: "EIO" | "ENOSPC";
}

/** Runs one process; `under` is a command that runs it, such as strace. */
export async function runClerk(options: ClerkOptions, under: readonly string[] = []): Promise<ClerkEnd> {
  const [command, ...values] = [...under, process.execPath, program, JSON.stringify(options)];
  // strace counts calls per thread: with several threads the n-th call of a file comes in some runs and not in others.
  const env = { ...process.env, UV_THREADPOOL_SIZE: "1" };
  const child = spawn(command, values, { stdio: ["ignore", "pipe", "pipe"], env });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  if (code === 0 && output.stdout !== "") return JSON.parse(output.stdout) as ClerkEnd;
  throw new Error(`the clerk ended with ${code ?? signal}: ${output.stdout} ${output.stderr}`);
}

/** Injects the error, and traces the calls that got it. */
export function failing({ call, when, path, error = "EIO" }: Fault, into: string): string[] {
  const only = path === undefined ? [] : ["-P", path];
  const inject = `inject=${call}:error=${error}:when=${when}`;
  // The trace also has fsync, which marks the end of a commit.
  return [...traced([call, "fsync", "fdatasync"], into), ...only, "-e", inject];
}

/** Traces these calls with their files. */
export function traced(calls: readonly string[], into: string): string[] {
  return ["strace", "-f", "-qq", "-y", "-s", "64", "-o", into, "-e", `trace=${calls.join(",")}`];
}

/** The lines of a trace that belong to the thread with most of them: the one that writes. */
export function writerLines(trace: string): string[] {
  const threads = Map.groupBy(linesOf(trace), (line) => line.split(" ")[0]);
  return [...threads.values()].reduce((most, lines) => (lines.length > most.length ? lines : most), []);
}

export function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
}

/** Counts each line. */
export function counts(lines: readonly string[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const line of lines) found.set(line, (found.get(line) ?? 0) + 1);
  return found;
}

/** Half-written files that no process reads again. */
export function orphans(stateDir: string): string[] {
  return readdirSync(stateDir, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".tmp") || name.includes(".probe"))
    .map((name) => join(stateDir, name));
}
