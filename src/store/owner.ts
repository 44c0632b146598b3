import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { newId } from "../domain/ids.ts";
import type { ProcessIdentity } from "../journal/process-identity.ts";

/** A process. Its machine is empty if the system has no machine id; then no other process is known to run on it. */
export interface Owner extends ProcessIdentity {
  readonly id: string;
}

/** An owner with its last heartbeat. */
export interface Heartbeat extends Owner {
  /** The number of its beats. While this grows, it lives, whatever the clocks say. */
  readonly beats: number;
  /** Milliseconds since boot: the same clock for every process of this boot, unaffected by wall clock jumps. */
  readonly beatUptimeMs: number;
  readonly beatAt: number;
  /** A server saw its connection end. It may have died, or lost its way to the server for a moment. */
  readonly isGone?: boolean;
}

export function uptimeMs(): number {
  return Math.floor(Number(process.hrtime.bigint() / 1_000_000n));
}

export function thisOwner(): Owner {
  return { id: newId(), ...processIdentity() };
}

/** The identity of this process, or of one that it started. */
export function processIdentity(pid: number = process.pid): ProcessIdentity {
  return {
    machine: machineIdentity(),
    boot: readOr("/proc/sys/kernel/random/boot_id", () => `host:${hostname()}`),
    pidNamespace: linkOr("/proc/self/ns/pid", ""),
    pid,
    started: processStart(pid) ?? "",
  };
}

/** Certain, unlike an expired lease or a long silence. */
export function isProvedDead(owner: ProcessIdentity, observer: ProcessIdentity): boolean {
  return isKnownDead(owner, observer) || isOfEarlierBoot(owner, observer);
}

/** Only a process of this boot and this pid namespace can be known to be dead. Others have to expire. */
export function isKnownDead(owner: ProcessIdentity, observer: ProcessIdentity): boolean {
  if (!isNear(owner, observer)) return false;
  const started = processStart(owner.pid);
  return started === undefined || started !== owner.started;
}

/**
 * A stopped process does not beat until it is continued. This is known only for a process of this boot and pid
 * namespace.
 */
export function isKnownStopped(owner: ProcessIdentity, observer: ProcessIdentity): boolean {
  return isNear(owner, observer) && isStopped(owner.pid);
}

/** A machine has one boot at a time, so the processes of an earlier boot are dead. */
export function isOfEarlierBoot(owner: ProcessIdentity, observer: ProcessIdentity): boolean {
  return owner.machine !== "" && owner.machine === observer.machine && owner.boot !== observer.boot;
}

function isNear(owner: ProcessIdentity, observer: ProcessIdentity): boolean {
  return owner.boot === observer.boot && owner.pidNamespace === observer.pidNamespace;
}

/** When the process started, in the system's own unit; undefined if no such process lives. */
function processStart(pid: number): string | undefined {
  return process.platform === "linux" ? startFromProc(pid) : startFromPs(pid);
}

function startFromProc(pid: number): string | undefined {
  const [state, started] = readStat(pid) ?? [];
  return state === "Z" || state === "X" ? undefined : started;
}

function isStopped(pid: number): boolean {
  const state = readStat(pid)?.[0];
  return state === "T" || state === "t";
}

/** State and start of a process, on systems with /proc. */
function readStat(
  pid: number,
): readonly [state: string | undefined, started: string | undefined] | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  // The command name is in parentheses and may contain them, so fields are counted after the last one.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return [fields[0], fields[19]];
}

function startFromPs(pid: number): string | undefined {
  // Only without /proc. Loading it would cost every start some milliseconds.
  const { execFileSync } = process.getBuiltinModule("node:child_process");
  try {
    // It prints a localized local time, and two processes must get the same value in any environment.
    const env = { ...process.env, TZ: "UTC", LC_ALL: "C" };
    return (
      execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8", env }).trim() || undefined
    );
  } catch {
    return undefined;
  }
}

/** Includes the host name, because containers of one image may share the id. */
function machineIdentity(): string {
  const id = readOr("/etc/machine-id", () => "");
  return id === "" ? "" : `${id} ${hostname()}`;
}

function readOr(path: string, otherwise: () => string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return otherwise();
  }
}

function linkOr(path: string, otherwise: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return otherwise;
  }
}
