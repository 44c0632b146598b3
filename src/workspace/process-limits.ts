import { availableParallelism } from "node:os";

const mebibyte = 1024 * 1024;

/**
 * The limits of one command. Processes count with their threads, and a test runner starts a dozen threads for each
 * core. Memory is that of each process, as RLIMIT_DATA counts it: RLIMIT_AS would also count what a runtime such as
 * V8 only reserves, and would stop it at once. There is no limit for all processes together, nor for the disk.
 */
export const processLimits = {
  maxProcesses: 512 + 64 * availableParallelism(),
  maxMemoryBytes: 4096 * mebibyte,
  maxFileBytes: 1024 * mebibyte,
  /** Of each temporary file system in the sandbox, which live in memory. */
  temporaryBytes: 512 * mebibyte,
} as const;

/**
 * The arguments that put a command under limits. The number of processes is limited in the sandbox only: outside, those
 * of the user's other programs would count as well.
 */
export function limitingWords(prlimit: string | undefined, isSandboxed: boolean): string[] {
  if (prlimit === undefined) return [];
  const { maxProcesses, maxMemoryBytes, maxFileBytes } = processLimits;
  return [
    prlimit,
    "--core=0",
    `--data=${maxMemoryBytes}`,
    `--fsize=${maxFileBytes}`,
    ...(isSandboxed ? [`--nproc=${maxProcesses}`] : []),
    "--",
  ];
}
