import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { newId } from "../domain/ids.ts";
import type { Launch } from "./launch.ts";
import { type CommandLimits, mebibyte } from "./process-limits.ts";

const mounted = "/sys/fs/cgroup";
const prefix = "maestro-";
const trialMs = 10_000;
const removeMs = 2_000;
const lookMs = 10;

let usable: Promise<string | undefined> | undefined;

/**
 * The control group (cgroup v2) of one launch, if the system lets us make one: as root, or below a slice of ours.
 * The kernel then bounds the memory of all its processes together, including memory files and shared segments,
 * which no sum over processes covers. The watch from outside stays, because a group that a process did not enter
 * bounds nothing.
 */
export class ControlGroup {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Whether groups can be created here. Tried once. */
  static async isPossible(): Promise<boolean> {
    usable ??= tryOut();
    return (await usable) !== undefined;
  }

  static async make(limits: CommandLimits): Promise<ControlGroup | undefined> {
    usable ??= tryOut();
    const parent = await usable;
    return parent === undefined ? undefined : ControlGroup.below(parent, limits).catch(() => undefined);
  }

  static async below(parent: string, { memoryMiB, processes }: CommandLimits): Promise<ControlGroup> {
    const folder = join(parent, `${prefix}${process.pid}-${newId()}`);
    await mkdir(folder);
    const group = new ControlGroup(folder);
    try {
      await writeFile(join(folder, "memory.max"), String(memoryMiB * mebibyte));
      // Without swap this file does not exist.
      await writeFile(join(folder, "memory.swap.max"), "0").catch(() => undefined);
      // End the whole group, not only the process that asked last.
      await writeFile(join(folder, "memory.oom.group"), "1");
      await writeFile(join(folder, "pids.max"), String(processes));
      return group;
    } catch (error) {
      await group.remove();
      throw error;
    }
  }

  /** The launch enters the group before it becomes the command, so that none of it is ever outside. */
  entered(launch: Launch): Launch {
    const script = '{ echo $$ > "$0"; } 2>/dev/null; exec "$@"';
    const args = ["-c", script, join(this.#folder, "cgroup.procs"), launch.file, ...launch.args];
    return { ...launch, file: "/bin/sh", args };
  }

  async hasRunOutOfMemory(): Promise<boolean> {
    const events = await readFile(join(this.#folder, "memory.events"), "utf8").catch(() => "");
    return Number(/^oom_kill (\d+)$/m.exec(events)?.[1] ?? 0) > 0;
  }

  /** Ends its remaining processes. The kernel removes only an empty group, and a process takes a moment to end. */
  async remove(): Promise<void> {
    await writeFile(join(this.#folder, "cgroup.kill"), "1").catch(() => undefined);
    const until = performance.now() + removeMs;
    while (performance.now() < until) {
      const isGone = await rmdir(this.#folder).then(
        () => true,
        ({ code }: NodeJS.ErrnoException) => code === "ENOENT",
      );
      if (isGone) return;
      await delay(lookMs);
    }
  }
}

/** The parent for our groups, if a process can really enter one of them. */
async function tryOut(): Promise<string | undefined> {
  try {
    const parent = await parentGroup();
    if (parent === undefined) return undefined;
    await sweep(parent);
    const group = await ControlGroup.below(parent, { memoryMiB: 64, diskMiB: 1, processes: 16 });
    try {
      const { file, args } = group.entered({
        file: "/bin/cat",
        args: ["/proc/self/cgroup"],
        directory: "/",
        env: {},
        descriptors: [],
      });
      const { stdout } = await promisify(execFile)(file, args, { timeout: trialMs });
      return new RegExp(`^0::.*/${prefix}${process.pid}-`, "m").test(stdout) ? parent : undefined;
    } finally {
      await group.remove();
    }
  } catch {
    return undefined;
  }
}

/** Beside our own group, because a group that has processes itself cannot distribute its memory. */
async function parentGroup(): Promise<string | undefined> {
  const own = /^0::(\/.*)$/m.exec(await readFile("/proc/self/cgroup", "utf8"))?.[1];
  if (own === undefined) return undefined;
  const parent = join(mounted, dirname(own));
  const controllers = (await readFile(join(parent, "cgroup.subtree_control"), "utf8")).trim().split(" ");
  return ["memory", "pids"].every((name) => controllers.includes(name)) ? parent : undefined;
}

/** Groups of killed processes are empty and stay until they are removed. A living process may not use its group yet. */
async function sweep(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    if (!name.startsWith(prefix) || isAlive(Number.parseInt(name.slice(prefix.length), 10))) continue;
    await rmdir(join(parent, name)).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Another user's process cannot be signaled, so it lives.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
