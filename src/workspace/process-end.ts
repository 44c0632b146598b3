import type { ChildProcess } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

const lookMs = 5;
const patienceMs = 200;
/** On a busy machine the kernel may take this long to end hundreds of processes. */
const mostMs = 60_000;

/**
 * Waits until a process of another parent has ended with everything it held, and kills it if it does not end by
 * itself. Its start time distinguishes it from a later process with the same pid.
 */
export async function untilGone(pid: number, started: string | undefined): Promise<void> {
  const from = performance.now();
  while (performance.now() < from + mostMs) {
    const now = await startOf(pid);
    if (now === undefined || now !== started) return;
    if (performance.now() > from + patienceMs) kill(pid, "SIGKILL");
    await delay(lookMs);
  }
}

/** When a process started, by the system's own clock; undefined if no such process lives. */
export async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return undefined;
  // The program name is in parentheses and may contain them.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
}

/** An empty group is fine. */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined) kill(-pid, signal);
}

const mostSweeps = 50;

/**
 * Ends processes that left their group but still have the mark in their environment. A process that also clears its
 * environment is not found: only a sandbox is certain. Without /proc nothing can be found.
 */
export async function endMarked(mark: string): Promise<void> {
  for (let sweep = 0; sweep < mostSweeps; sweep += 1) {
    const found = await marked(mark);
    if (found.length === 0) return;
    for (const pid of found) kill(pid, "SIGKILL");
    await delay(lookMs);
  }
}

async function marked(mark: string): Promise<number[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  const found: number[] = [];
  for (const pid of pids) {
    const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
    if (pid !== process.pid && environment.includes(mark)) found.push(pid);
  }
  return found;
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The group is empty, or its processes belong to another user.
  }
}
