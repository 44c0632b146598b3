import { stat, statfs } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { bytesBelow, bytesHeldOpen, bytesInTemporary } from "./folder-size.ts";
import { type CommandLimits, mebibyte } from "./process-limits.ts";
import { memoryOf, processesOf, sharedMemory } from "./process-memory.ts";

const lookMs = 200;
/** The watch uses at most this share of the time, but checks memory at least once a second. */
const costShare = 20;
const longestMs = 1_000;
/** Walking through the files costs more than checking processes, so it happens less often. */
const walkMs = 1_000;

/**
 * Watches the total use of all processes of one launch, several times a second, until the signal. Returns the first
 * exceeded limit as a sentence. Without /proc, only the files are watched.
 */
export async function watchLimits(
  first: number,
  folders: readonly string[],
  { memoryMiB, diskMiB }: CommandLimits,
  signal: AbortSignal,
): Promise<string | undefined> {
  const memory = new Memory(memoryMiB * mebibyte);
  const disk = new DiskUse(folders, diskMiB * mebibyte, signal);
  // In parallel: a walk through many files must not leave the memory unwatched.
  const [memoryEnded, diskEnded] = [
    hasPassed(() => memory.hasPassed(processesOf(first)), signal),
    hasPassed(() => disk.hasPassed(processesOf(first)), signal),
  ];
  return Promise.race([
    memoryEnded.then((isAbove) => (isAbove ? memoryPassed(memoryMiB) : undefined)),
    diskEnded.then((isAbove) => (isAbove ? `the files in its folder passed ${sizeOf(diskMiB)}` : undefined)),
  ]);
}

/** Checks repeatedly. False if the command ended first. */
async function hasPassed(look: () => Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  let tookMs = 0;
  while (await passes(Math.min(longestMs, Math.max(lookMs, costShare * tookMs)), signal)) {
    const from = performance.now();
    if ((await look()) && !signal.aborted) return true;
    tookMs = performance.now() - from;
  }
  return false;
}

export const memoryPassed = (memoryMiB: number): string =>
  `the memory of all its processes passed ${sizeOf(memoryMiB)}`;

const sizeOf = (mebibytes: number): string =>
  mebibytes % 1024 === 0 ? `${mebibytes / 1024} GiB` : `${mebibytes} MiB`;

/** False if the command ended first. */
async function passes(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(ms, undefined, { signal, ref: false });
    return true;
  } catch {
    return false;
  }
}

/**
 * The memory of a launch. Memory files that it does not map, and its temporary files, are searched only when the
 * machine's shared memory has grown by the launch's remaining amount.
 */
class Memory {
  readonly #limit: number;
  readonly #sharedBefore = sharedMemory();

  constructor(limit: number) {
    this.#limit = limit;
  }

  async hasPassed(pids: readonly number[]): Promise<boolean> {
    const { own, shared } = memoryOf(pids, this.#limit);
    if (own + shared > this.#limit) return true;
    if (sharedMemory() - this.#sharedBefore < this.#limit - own) return false;
    const inFiles = await bytesHeldOpen(pids, (name) => name.startsWith("/memfd:"));
    return own + Math.max(shared, inFiles + (await bytesInTemporary(pids))) > this.#limit;
  }
}

/**
 * The files of a launch. Walking through them takes time, so it happens periodically, and at once when the disk's
 * free space has shrunk by the launch's remaining amount. Before that it cannot have passed its limit.
 */
class DiskUse {
  readonly #folders: readonly string[];
  readonly #limit: number;
  readonly #signal: AbortSignal;
  /** The free disk space below which the next walk is due. */
  #floor = Number.NEGATIVE_INFINITY;
  #nextAt = performance.now() + walkMs;

  constructor(folders: readonly string[], limit: number, signal: AbortSignal) {
    this.#folders = folders;
    this.#limit = limit;
    this.#signal = signal;
  }

  async hasPassed(pids: readonly number[]): Promise<boolean> {
    const free = await freeBytes(this.#folders[0] ?? "/");
    if (this.#floor === Number.NEGATIVE_INFINITY) this.#floor = free - this.#limit;
    if (free > this.#floor && performance.now() < this.#nextAt) return false;
    const from = performance.now();
    const used = await this.#used(pids);
    this.#floor = free - (this.#limit - used);
    this.#nextAt = performance.now() + Math.max(walkMs, costShare * (performance.now() - from));
    return used > this.#limit;
  }

  async #used(pids: readonly number[]): Promise<number> {
    const named = await bytesBelow(this.#folders, this.#limit, this.#signal);
    const [folder = "/"] = this.#folders;
    const device = (await stat(folder).catch(() => undefined))?.dev;
    return device === undefined ? named : named + (await bytesHeldOpen(pids, (_, { dev }) => dev === device));
  }
}

async function freeBytes(folder: string): Promise<number> {
  const found = await statfs(folder).catch(() => undefined);
  return found === undefined ? Number.POSITIVE_INFINITY : found.bavail * found.bsize;
}
