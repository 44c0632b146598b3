import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as delay } from "node:timers/promises";
import type { Confinement } from "./confinement.ts";
import { ControlGroup } from "./control-group.ts";
import { type Launch, start } from "./launch.ts";
import { memoryPassed, watchLimits } from "./limit-watch.ts";
import type { CommandLimits } from "./process-limits.ts";

interface Supervision {
  readonly stdin?: string | Uint8Array | undefined;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly signal: AbortSignal;
  /** The folders that the command may write, and its limits. */
  readonly folders: readonly string[];
  readonly limits: CommandLimits;
  readonly onOutput?: ((text: string, stream: "stdout" | "stderr") => void) | undefined;
}

interface Printed {
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly durationMs: number;
  /** Hosts that the proxy refused, each as a sentence. */
  readonly refused?: readonly string[];
}

/** How a command ended. An exit by a signal has the code of a shell: 128 plus the signal's number. */
export type Ending =
  | ({ readonly kind: "exited"; readonly code: number; readonly signal: NodeJS.Signals | null } & Printed)
  | ({ readonly kind: "timeout" | "aborted" } & Printed)
  /** It was ended at a limit of all its processes together. The reason completes a sentence. */
  | ({ readonly kind: "exceeded"; readonly reason: string } & Printed)
  /** `permanent`: it cannot start until the command or the machine changes. */
  | { readonly kind: "not-started"; readonly reason: string; readonly permanent?: true };

const longestTimer = 2 ** 31 - 1;
const drainMs = 500;

/** Runs the launch to its end, in its own control group if possible. */
export async function supervise(
  launch: Launch,
  options: Supervision,
  confine: (child: ChildProcess) => Confinement,
): Promise<Ending> {
  const group = await ControlGroup.make(options.limits);
  if (group === undefined) return watchOver(launch, options, confine);
  try {
    const ending = await watchOver(group.entered(launch), options, confine);
    if (ending.kind === "aborted" || !(await group.hasRunOutOfMemory())) return ending;
    const { memoryMiB } = options.limits;
    const printed = ending.kind === "not-started" ? nothingPrinted : ending;
    return { ...printed, kind: "exceeded", reason: memoryPassed(memoryMiB) };
  } finally {
    await group.remove();
  }
}

const nothingPrinted: Printed = { stdout: "", stderr: "", truncated: false, durationMs: 0 };

async function watchOver(
  launch: Launch,
  options: Supervision,
  confine: (child: ChildProcess) => Confinement,
): Promise<Ending> {
  const startedAt = performance.now();
  const streams = {
    stdout: new BoundedOutput(options.maxOutputBytes),
    stderr: new BoundedOutput(options.maxOutputBytes),
  };
  const printed = (): Printed => ({
    stdout: streams.stdout.text(),
    stderr: streams.stderr.text(),
    truncated: streams.stdout.isTruncated || streams.stderr.isTruncated,
    durationMs: performance.now() - startedAt,
  });
  if (options.signal.aborted) return { kind: "aborted", ...printed() };

  let child: ChildProcess;
  try {
    child = start(launch, options.stdin);
  } catch (error) {
    return { kind: "not-started", reason: (error as Error).message };
  }
  const exited = exitOf(child);
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  for (const name of ["stdout", "stderr"] as const) keep(child, name, streams[name], options.onOutput);
  const confinement = confine(child);
  let stopped: Stop | undefined;
  const stop = (cause: Stop): void => {
    if (stopped !== undefined) return;
    stopped = cause;
    void confinement.stop();
  };
  const ended = new AbortController();
  const watching = watch(child, options, ended.signal).then(
    (reason) => reason !== undefined && stop({ kind: "exceeded", reason }),
  );
  const onAbort = (): void => stop({ kind: "aborted" });
  const timer = setTimeout(stop, Math.min(options.timeoutMs, longestTimer), { kind: "timeout" });
  options.signal.addEventListener("abort", onAbort, { once: true });
  const exit = await exited;
  clearTimeout(timer);
  ended.abort();
  await watching;
  options.signal.removeEventListener("abort", onAbort);
  if ("reason" in exit) return { kind: "not-started", reason: exit.reason };
  await confinement.settle();
  // An escaped process may hold the pipes open for ever.
  await Promise.race([closed, delay(drainMs)]);
  for (const stream of child.stdio) stream?.destroy();
  return conclude(stopped, exit, confinement, printed());
}

type Stop = { readonly kind: "timeout" | "aborted" } | { readonly kind: "exceeded"; readonly reason: string };

async function watch(
  { pid }: ChildProcess,
  { folders, limits }: Supervision,
  signal: AbortSignal,
): Promise<string | undefined> {
  return pid === undefined ? undefined : watchLimits(pid, folders, limits, signal);
}

function conclude(
  stopped: Stop | undefined,
  { code, signal }: Exit,
  { hasRun, hidesSignals }: Confinement,
  printed: Printed,
): Ending {
  if (stopped !== undefined) return { ...stopped, ...printed };
  const reason = code === null ? undefined : whyNotReached(code, hasRun, printed.stderr);
  if (reason !== undefined) return { kind: "not-started", reason };
  return {
    kind: "exited",
    code: code ?? 128 + numberOf(signal),
    signal: signal ?? (hidesSignals ? signalOf(code) : null),
    ...printed,
  };
}

/** The programs that start the command report when they cannot start it. */
function whyNotReached(code: number, hasRun: boolean, stderr: string): string | undefined {
  const last = stderr.trim().split("\n").at(-1)?.slice(0, 500);
  if (!hasRun) return last || `the sandbox ended with ${code}`;
  const before = /^(?:prlimit|setpriv): (.{1,500})/.exec(stderr)?.[1];
  return code === 126 || code === 127 ? before : undefined;
}

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

function exitOf(child: ChildProcess): Promise<Exit | { readonly reason: string }> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.once("error", (error: NodeJS.ErrnoException) =>
      resolve({ reason: error.code === undefined ? error.message : `the system says ${error.code}` }),
    );
  });
}

function keep(
  child: ChildProcess,
  name: "stdout" | "stderr",
  kept: BoundedOutput,
  onOutput: Supervision["onOutput"],
): void {
  const decoder = new StringDecoder("utf8");
  child[name]?.on("data", (chunk: Buffer) => {
    kept.add(chunk);
    try {
      onOutput?.(decoder.write(chunk), name);
    } catch {
      // An observer that throws must not leave the command unsupervised.
    }
  });
}

const numberOf = (signal: NodeJS.Signals | null): number => (signal === null ? 0 : constants.signals[signal]);

function signalOf(code: number | null): NodeJS.Signals | null {
  if (code === null || code <= 128) return null;
  const found = Object.entries(constants.signals).find(([, number]) => number === code - 128);
  return (found?.[0] as NodeJS.Signals | undefined) ?? null;
}

/** Keeps the beginning and the end of a process's output: one shows what ran, the other how it ended. */
export class BoundedOutput {
  readonly #head: Buffer[] = [];
  readonly #tail: Buffer;
  #headLeft: number;
  #tailAt = 0;
  #total = 0;

  constructor(maxBytes: number) {
    const half = Math.max(0, Math.floor(maxBytes / 2));
    this.#headLeft = half;
    // A ring buffer, for a process that prints endlessly, byte by byte.
    this.#tail = Buffer.allocUnsafe(half);
  }

  add(chunk: Buffer): void {
    this.#total += chunk.length;
    const first = chunk.subarray(0, this.#headLeft);
    if (first.length > 0) this.#head.push(Buffer.from(first));
    this.#headLeft -= first.length;
    this.#addToTail(chunk.subarray(first.length));
  }

  get isTruncated(): boolean {
    return this.#leftOut > 0;
  }

  text(): string {
    const head = Buffer.concat(this.#head);
    const written = this.#total - head.length;
    const ring = this.#tail;
    const tail =
      written <= ring.length
        ? ring.subarray(0, written)
        : Buffer.concat([ring.subarray(this.#tailAt), ring.subarray(0, this.#tailAt)]);
    if (!this.isTruncated) return Buffer.concat([head, tail]).toString();
    const note = `\n[... ${this.#leftOut} bytes left out ...]\n`;
    return `${withoutHalfEnd(head)}${note}${withoutHalfBeginning(tail)}`;
  }

  get #leftOut(): number {
    const head = this.#head.reduce((sum, { length }) => sum + length, 0);
    return Math.max(0, this.#total - head - this.#tail.length);
  }

  #addToTail(chunk: Buffer): void {
    const ring = this.#tail;
    if (ring.length === 0) return;
    const last = chunk.subarray(Math.max(0, chunk.length - ring.length));
    const fitting = last.copy(ring, this.#tailAt);
    last.copy(ring, 0, fitting);
    this.#tailAt = (this.#tailAt + last.length) % ring.length;
  }
}

/** A streaming decoder holds back an incomplete character at the end. */
const withoutHalfEnd = (bytes: Buffer): string => new TextDecoder().decode(bytes, { stream: true });

/** At most three bytes continue a character whose first byte is lost. */
function withoutHalfBeginning(bytes: Buffer): string {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0b1100_0000) === 0b1000_0000) start += 1;
  return bytes.toString("utf8", start);
}
