import { readdir, readlink, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { sha256 } from "../domain/canonical.ts";
import { startOf } from "./process-end.ts";
import { removeFolder } from "./remove-folder.ts";

/** Folders that outlive their process, one for each session. */
const keptFolder = "kept";

const owned = /^([0-9a-f]{8})-(\d{1,10})-(\d{1,20})-/;
/** A process whose life cannot be checked counts as dead after this time. */
const staleMs = 24 * 3_600_000;

let mark: Promise<string> | undefined;

/** The prefix of this process's folders, which tells other processes whether it still runs. */
export function ownerMark(): Promise<string> {
  mark ??= Promise.all([machineMark(), startOf(process.pid)]).then(
    ([machine, started]) => `${machine}-${process.pid}-${started ?? 0}-`,
  );
  return mark;
}

/**
 * Removes the folders of killed processes and finished sessions, never one in use: a process is identified by its
 * pid and start time.
 */
export async function sweepScratch(
  scratch: string,
  isOver: (sessionId: string) => Promise<boolean>,
): Promise<void> {
  const names = await readdir(scratch).catch(() => []);
  for (const name of names) {
    const path = join(scratch, name);
    if (name === keptFolder) {
      for (const session of await readdir(path).catch(() => []))
        if (await isOver(session)) await removeFolder(join(path, session));
    } else if (await isLeft(name, path)) await removeFolder(path);
  }
}

/** Whether the process named by the mark has ended. One of another machine counts as dead after a day. */
export async function isLeft(mark: string, path: string): Promise<boolean> {
  const [, machine, pid, started] = owned.exec(mark) ?? [];
  if (pid === undefined || machine !== (await machineMark())) {
    const status = await stat(path).catch(() => undefined);
    return status !== undefined && Date.now() - status.mtimeMs > staleMs;
  }
  return started === "0" ? !isAlive(Number(pid)) : (await startOf(Number(pid))) !== started;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** A pid is meaningful only within one machine and one container. */
async function machineMark(): Promise<string> {
  const namespace = await readlink("/proc/self/ns/pid").catch(() => "");
  return sha256(`${hostname()} ${namespace}`).slice(0, 8);
}
