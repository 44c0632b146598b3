import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { DriveCrowdOptions } from "./drive-crowd.ts";

export interface CrowdEnding {
  readonly id: string;
  readonly status: string;
  readonly reason?: string;
  readonly error?: { readonly details?: Record<string, unknown>; readonly advice?: string };
}

/** Runs drive-crowd.ts in its own process. */
export const runCrowd = (options: DriveCrowdOptions): Promise<CrowdEnding> => startCrowd(options).ended;

/** As `runCrowd`, for a process that is going to be killed. */
export function startCrowd(options: DriveCrowdOptions): {
  readonly child: ChildProcess;
  readonly ended: Promise<CrowdEnding>;
} {
  const program = join(import.meta.dirname, "drive-crowd.ts");
  const child = spawn(process.execPath, [program, JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const ended = new Promise<CrowdEnding>((resolve, reject) => {
    child.once("close", (code) => {
      if (code === 0) resolve(JSON.parse(stdout) as CrowdEnding);
      else reject(new Error(`it ended with ${code}: ${stderr}`));
    });
  });
  return { child, ended };
}
