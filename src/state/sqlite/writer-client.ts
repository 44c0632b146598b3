import { Worker } from "node:worker_threads";
import { codeFile } from "../../package-files.ts";
import { armedFault } from "../fault-points.ts";
import type { Command, Reply } from "./command.ts";
import type { Writer } from "./writer.ts";
import type { FromThread, ThreadData, ToThread } from "./writer-thread.ts";

/** Hands commands to the writer; the promise resolves after the commit. */
export interface WriterClient {
  /** Gets ready for the first write while the caller reads. */
  prepare(): void;
  submit(command: Command): Promise<Reply>;
  beat(owner: string, everyMs: number): void;
  close(): Promise<void>;
}

type Resolve = (reply: Reply) => void;

/** Each answer wakes a session that works until its next step; so many in one turn of the event loop, others go first. */
const answersPerTurn = 16;

/** Everything submitted in one turn of the event loop, and whatever joins while the thread is busy, commits together. */
export class ThreadWriter implements WriterClient {
  readonly #path: string;
  #worker: Worker | undefined;
  #queue: Command[] = [];
  readonly #waiting: Resolve[] = [];
  readonly #replies: Reply[] = [];
  #answered = 0;
  #isTurnOver = true;
  /** Rung after each message: the thread sleeps on it, which costs less than an event loop of its own. */
  readonly #bell = new Int32Array(new SharedArrayBuffer(4));
  /** For a thread that comes in the place of one that died, too. */
  #heart: Extract<ToThread, { readonly beat: string }> | undefined;
  #closed: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  prepare(): void {
    this.#worker ??= this.#start();
  }

  submit(command: Command): Promise<Reply> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      // Not a microtask: a busy chain of awaits would starve timers.
      if (this.#queue.push(command) === 1) setImmediate(() => this.#flush());
    });
  }

  beat(owner: string, everyMs: number): void {
    this.#heart = { beat: owner, everyMs };
    this.#post(this.#heart);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#flush();
    const worker = this.#worker;
    if (worker === undefined) return;
    worker.ref();
    const closed = new Promise<void>((resolve) => {
      this.#closed = resolve;
    });
    this.#post("close");
    await closed;
    this.#worker = undefined;
  }

  #flush(): void {
    if (this.#queue.length === 0) return;
    this.#post(this.#queue);
    this.#worker?.ref();
    this.#queue = [];
  }

  #post(message: ToThread): void {
    this.#worker ??= this.#start();
    this.#worker.postMessage(message);
    Atomics.add(this.#bell, 0, 1);
    Atomics.notify(this.#bell, 0);
  }

  /** At the first write at the latest: who only reads does not pay for a thread. */
  #start(): Worker {
    const entry = codeFile("state/sqlite/writer-thread");
    const workerData: ThreadData = { path: this.#path, bell: this.#bell, fault: armedFault() };
    const worker = new Worker(entry, { workerData, name: "maestro-writer" });
    worker.on("message", (message: FromThread) => {
      if (message === "closed") this.#closed?.();
      else {
        this.#replies.push(...message);
        if (this.#isTurnOver) this.#settle();
      }
    });
    worker.on("error", (error) => this.#fail(error as Error));
    worker.unref();
    if (this.#heart !== undefined) worker.postMessage(this.#heart);
    return worker;
  }

  #settle(): void {
    const waiting = this.#waiting;
    for (const reply of this.#replies.splice(0, answersPerTurn)) waiting[this.#answered++]?.(reply);
    this.#isTurnOver = false;
    setImmediate(() => {
      this.#isTurnOver = true;
      if (this.#replies.length > 0) this.#settle();
    });
    if (this.#answered === waiting.length) {
      waiting.length = 0;
      this.#answered = 0;
      // Nothing under way: the thread alone must not keep the process alive.
      this.#worker?.unref();
    } else if (this.#answered > 1_024) {
      waiting.splice(0, this.#answered);
      this.#answered = 0;
    }
  }

  /**
   * The thread is gone and with it the fate of what was under way; the journal knows, a new start reads it. What it was
   * not given yet goes to the next thread.
   */
  #fail(cause: Error): void {
    this.#worker = undefined;
    // These did commit, and only wait for their turn.
    for (const reply of this.#replies.splice(0)) this.#waiting[this.#answered++]?.(reply);
    const { errcode } = cause as { errcode?: number };
    const error = { message: `the writer thread stopped: ${cause.message}`, errcode };
    const given = this.#waiting.splice(0, this.#waiting.length - this.#queue.length);
    for (const resolve of given.slice(this.#answered)) resolve({ kind: "failed", error });
    this.#answered = 0;
    this.#closed?.();
  }
}

/** The same writer on the caller's own thread, for databases in memory. */
export class InlineWriter implements WriterClient {
  readonly #writer: Writer;
  #queue: { command: Command; resolve: Resolve }[] = [];

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  prepare(): void {
    // Nothing to start: it is here.
  }

  submit(command: Command): Promise<Reply> {
    return new Promise((resolve) => {
      if (this.#queue.push({ command, resolve }) === 1) setImmediate(() => this.#flush());
    });
  }

  beat(): void {
    // A database in memory has one process; nobody else could ask whether it lives.
  }

  async close(): Promise<void> {
    this.#flush();
  }

  #flush(): void {
    const batch = this.#queue;
    this.#queue = [];
    const replies = this.#writer.commit(batch.map(({ command }) => command));
    for (const [index, { resolve }] of batch.entries()) resolve(replies[index] as Reply);
  }
}
