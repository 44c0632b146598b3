import { availableParallelism } from "node:os";

/** What one launch may use, all its processes together. */
export interface CommandLimits {
  readonly memoryMiB: number;
  /** Files in its folder and its home. */
  readonly diskMiB: number;
  /** Counted with threads. */
  readonly processes: number;
}

export const commandLimits: CommandLimits = {
  memoryMiB: 4_096,
  diskMiB: 4_096,
  // A test runner starts a dozen threads for each core.
  processes: 512 + 64 * availableParallelism(),
};

export const mebibyte = 1024 * 1024;
export const maxFileBytes = 1024 * mebibyte;
/** Of each temporary file system in the sandbox, which live in memory. */
export const temporaryBytes = 512 * mebibyte;

/**
 * The arguments that put each process under the kernel's own limits: the first barrier, before the sum of all processes
 * is seen. Memory is what RLIMIT_DATA counts: RLIMIT_AS would also count what a runtime such as V8 only reserves, and
 * would stop it at once. It is never below the default, because RLIMIT_DATA counts a part of that too. The number of processes is limited in the sandbox only: outside, those of the user's other
 * programs would count as well.
 */
export function limitingWords(
  prlimit: string | undefined,
  { memoryMiB, processes }: CommandLimits,
  isSandboxed: boolean,
): string[] {
  if (prlimit === undefined) return [];
  return [
    prlimit,
    "--core=0",
    `--data=${Math.max(memoryMiB, commandLimits.memoryMiB) * mebibyte}`,
    `--fsize=${maxFileBytes}`,
    ...(isSandboxed ? [`--nproc=${processes}`] : []),
    "--",
  ];
}
