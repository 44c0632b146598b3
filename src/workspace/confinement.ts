import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { endMarked, signalGroup, startOf, untilGone } from "./process-end.ts";
import { sandboxDescriptors } from "./sandbox-launch.ts";

/** Keeps a command and everything that it started together. */
export interface Confinement {
  /** Ends it. The child's exit event follows. */
  stop(): Promise<void>;
  /** Called after its exit. When this returns, none of its processes is running. */
  settle(): Promise<void>;
  /** Whether the program itself was started. */
  readonly hasRun: boolean;
  /** Whether an end by a signal appears only as exit code 128 plus its number. */
  readonly hidesSignals: boolean;
}

const reportMs = 1_000;
const mostReport = 64 * 1024;

/**
 * Everything in the sandbox lives in its own process namespace. The kernel ends all of it with its first process,
 * which dies with bubblewrap. No process can leave the namespace.
 */
export class SandboxedProcess implements Confinement {
  readonly hidesSignals = true;
  readonly #child: ChildProcess;
  readonly #reported = Promise.withResolvers<void>();
  #report = "";
  #started: Promise<string | undefined> = Promise.resolve(undefined);

  constructor(child: ChildProcess) {
    this.#child = child;
    const status = child.stdio[sandboxDescriptors.status] as Readable | null | undefined;
    status?.on("data", (chunk: Buffer) => this.#read(chunk.toString()));
    status?.once("close", this.#reported.resolve);
  }

  get hasRun(): boolean {
    return this.#report.includes('"exit-code"');
  }

  async stop(): Promise<void> {
    // If killed earlier, bubblewrap could leave a first process that is not yet set to die with it.
    await Promise.race([this.#reported.promise, delay(reportMs)]);
    this.#child.kill("SIGKILL");
  }

  async settle(): Promise<void> {
    const pid = this.#firstPid;
    if (pid !== undefined) await untilGone(pid, await this.#started);
  }

  get #firstPid(): number | undefined {
    const pid = /"child-pid":\s*(\d+)/.exec(this.#report)?.[1];
    return pid === undefined ? undefined : Number(pid);
  }

  #read(text: string): void {
    const wasKnown = this.#firstPid !== undefined;
    if (this.#report.length < mostReport) this.#report += text;
    const pid = this.#firstPid;
    if (wasKnown || pid === undefined) return;
    this.#started = startOf(pid);
    this.#reported.resolve();
  }
}

/** Time to exit cleanly. An abort must be over within a second. */
const graceMs = 500;

/** Without a sandbox: asks the group to end, then kills it. Processes that left the group are found by their mark. */
export class ProcessGroup implements Confinement {
  readonly hasRun = true;
  readonly hidesSignals = false;
  readonly #child: ChildProcess;
  readonly #mark: string;

  constructor(child: ChildProcess, mark: string) {
    this.#child = child;
    this.#mark = mark;
  }

  async stop(): Promise<void> {
    signalGroup(this.#child, "SIGTERM");
    await delay(graceMs);
    // After its exit, its pid may belong to another process. By then settle has ended the rest of the group.
    if (this.#child.exitCode === null && this.#child.signalCode === null) signalGroup(this.#child, "SIGKILL");
  }

  async settle(): Promise<void> {
    signalGroup(this.#child, "SIGKILL");
    await endMarked(this.#mark);
  }
}
