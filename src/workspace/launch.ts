import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import type { Writable } from "node:stream";

/** A process to start: program, arguments and everything it gets. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  /** Descriptors from 3 on: text to read, or `undefined` for one that the process writes. */
  readonly descriptors: readonly (string | undefined)[];
  /** Default: a pipe. */
  readonly stdout?: "inherit";
  /** A pipe that stays open. Default: the given input, or none. */
  readonly stdin?: "open";
}

/** Always in its own process group, so that a terminal's Ctrl-C does not reach it and one signal reaches all of it. */
export function start(launch: Launch, stdin: string | Uint8Array | undefined): ChildProcess {
  const child = spawn(launch.file, launch.args, {
    cwd: launch.directory,
    env: launch.env,
    detached: true,
    stdio: [
      stdin === undefined && launch.stdin === undefined ? "ignore" : "pipe",
      launch.stdout ?? "pipe",
      "pipe",
      ...launch.descriptors.map(() => "pipe" as const),
    ],
  });
  if (child.pid !== undefined) dieFirst(child.pid);
  // A process may end without reading its input. Without free descriptors for its pipes, Node omits them and
  // reports an error.
  const streams = (child.stdio as ChildProcess["stdio"] | undefined) ?? [];
  for (const stream of streams) stream?.on("error", () => undefined);
  if (stdin !== undefined) child.stdin?.end(stdin);
  launch.descriptors.forEach((text, index) => {
    if (text !== undefined) (streams[index + 3] as Writable | undefined)?.end(text);
  });
  return child;
}

/** When memory runs out, the system should end a command before Maestro. Its children inherit this. */
function dieFirst(pid: number): void {
  if (process.platform !== "linux") return;
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, "1000");
  } catch {
    // It has already ended, or the system lacks this feature.
  }
}
