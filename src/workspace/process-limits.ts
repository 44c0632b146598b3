import { availableParallelism } from "node:os";

/** Limits for all processes of one launch together. */
export interface CommandLimits {
  readonly memoryMiB: number;
  /** Limit for files in its folder and its home. */
  readonly diskMiB: number;
  /** Counted with threads. */
  readonly processes: number;
}

export const commandLimits: CommandLimits = {
  memoryMiB: 4_096,
  diskMiB: 4_096,
  // A test runner starts a dozen threads per core.
  processes: 512 + 64 * availableParallelism(),
};

export const mebibyte = 1024 * 1024;
export const maxFileBytes = 1024 * mebibyte;
/** Size of each temporary file system in the sandbox. They are in memory, and count as memory. */
export const temporaryBytes = 512 * mebibyte;

/**
 * The arguments that apply the kernel's own limits to each process, a first barrier before the total is measured.
 * Memory is RLIMIT_DATA: RLIMIT_AS would also count memory that a runtime such as V8 only reserves, and would stop
 * it at once. It is never below the default, because RLIMIT_DATA counts a part of reserved memory too. The number
 * of processes is limited only in the sandbox: outside, the user's other programs would count too.
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
