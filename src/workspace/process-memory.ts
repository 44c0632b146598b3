import { readdirSync, readFileSync } from "node:fs";

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
}

/** Launches that measure within this time share one scan. */
const sharedMs = 100;
let lastScan: { readonly at: number; readonly processes: readonly Process[] } | undefined;

/**
 * The processes of one launch: its first one, all below it, and orphans of its session. In a sandbox none can
 * leave, because orphans become children of the sandbox's first process.
 */
export function processesOf(first: number): number[] {
  const now = performance.now();
  if (lastScan === undefined || now - lastScan.at > sharedMs) lastScan = { at: now, processes: scan() };
  const { processes } = lastScan;
  const found = new Set([first]);
  for (let before = 0; before < found.size; ) {
    before = found.size;
    for (const { pid, parent, session } of processes)
      if (found.has(parent) || session === first) found.add(pid);
  }
  return [...found];
}

function scan(): Process[] {
  return entries("/proc").flatMap((name) => {
    const pid = Number(name);
    const stat = Number.isInteger(pid) ? read(`/proc/${pid}/stat`) : "";
    if (stat === "") return [];
    // The program name is in parentheses and may contain them.
    const [, parent, , session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return [{ pid, parent: Number(parent), session: Number(session) }];
  });
}

/** All threads of a user's processes, as RLIMIT_NPROC counts them. */
export function threadsOf(uid: number): number {
  return entries("/proc").reduce((sum, name) => {
    const status = /^\d+$/.test(name) ? read(`/proc/${name}/status`) : "";
    const isOwn = new RegExp(`^Uid:\\s+${uid}\\s`, "m").test(status);
    return isOwn ? sum + Number(/^Threads:\s+(\d+)/m.exec(status)?.[1] ?? 0) : sum;
  }, 0);
}

/** In bytes. */
export interface MemoryUse {
  /** Private pages, in memory or swapped out. */
  readonly own: number;
  /** Mapped shared memory. */
  readonly shared: number;
}

const quickFields = { own: /^(?:RssAnon|VmSwap):\s+(\d+)/gm, shared: /^RssShmem:\s+(\d+)/gm };
const exactFields = { own: /^(?:Pss_Anon|SwapPss):\s+(\d+)/gm, shared: /^Pss_Shmem:\s+(\d+)/gm };

/**
 * The memory that these processes use, without program text and cached files, which the system can reclaim. Pages
 * shared by several of them are first counted for each, which is fast. Only a sum above the limit needs the exact
 * count.
 */
export function memoryOf(pids: readonly number[], limitBytes: number): MemoryUse {
  const quick = pids.map((pid) => useIn(read(`/proc/${pid}/status`), quickFields));
  const sum = total(quick);
  if (sum.own + sum.shared <= limitBytes) return sum;
  // An older kernel, or one that denies access, has only the fast count.
  const exact = pids.map((pid) => read(`/proc/${pid}/smaps_rollup`));
  return total(
    quick.map((use, index) =>
      exact[index]?.includes("Pss_Anon:") ? useIn(exact[index] ?? "", exactFields) : use,
    ),
  );
}

function useIn(text: string, fields: typeof quickFields): MemoryUse {
  const bytes = (field: RegExp): number =>
    [...text.matchAll(field)].reduce((all, [, count]) => all + 1024 * Number(count), 0);
  return { own: bytes(fields.own), shared: bytes(fields.shared) };
}

const total = (uses: readonly MemoryUse[]): MemoryUse =>
  uses.reduce((all, use) => ({ own: all.own + use.own, shared: all.shared + use.shared }), {
    own: 0,
    shared: 0,
  });

/** Shared memory of the whole machine in bytes, which bounds the unmapped files in memory that a launch may hold. */
export function sharedMemory(): number {
  return 1024 * Number(/^Shmem:\s+(\d+)/m.exec(read("/proc/meminfo"))?.[1] ?? 0);
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** A process may end at any moment. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
