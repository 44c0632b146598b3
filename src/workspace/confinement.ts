import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { endMarked, signalGroup, startOf, untilGone } from "./process-end.ts";
import { sandboxDescriptors } from "./sandbox-launch.ts";

/** How a command and all that it started are held together. */
export interface Confinement {
  /** Ends it; the child's exit says when. */
  stop(): Promise<void>;
  /** Called after its exit: when it returns, nothing of it is running. */
  settle(): Promise<void>;
  /** Whether the program itself was reached. */
  readonly hasRun: boolean;
  /** Whether an end by a signal is reported only as the exit code 128 and its number. */
  readonly hidesSignals: boolean;
}

const reportMs = 1_000;
const mostReport = 64 * 1024;

/**
 * Everything in the sandbox lives in its own process namespace, and the kernel ends all of it with its first process,
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
    // Killed earlier, bubblewrap could leave behind a first process that does not yet know that it is to die with it.
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

/** Enough to say goodbye; an abort is to be over within a second. */
const graceMs = 500;

/** Without a sandbox: asked to end first, then ended with its group. What left the group is looked for by its mark. */
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
    // Once it has exited its pid may be another's; settle has ended the rest of the group by then.
    if (this.#child.exitCode === null && this.#child.signalCode === null) signalGroup(this.#child, "SIGKILL");
  }

  async settle(): Promise<void> {
    signalGroup(this.#child, "SIGKILL");
    await endMarked(this.#mark);
  }
}
