import { channel } from "node:diagnostics_channel";
import { Worker } from "node:worker_threads";
import { type CommitMeasured, commitChannel } from "../../domain/channels.ts";
import type { RowToWrite } from "../../journal/journal-codec.ts";
import { codeFile } from "../../package-files.ts";
import type { AppendRows, Command, Reply } from "../command.ts";
import { armedFault } from "../fault-points.ts";
import type { Effects } from "../journal.ts";
import type { DatabaseFiles } from "./database-files.ts";
import { openAgain } from "./open-database.ts";
import { failed, Writer } from "./writer.ts";
import type { FromThread, ThreadData, ToThread } from "./writer-thread.ts";

/** Hands commands to the writer. The promise resolves after the commit. */
export interface WriterClient {
  submit(command: Command): Promise<Reply>;
  /** Undefined if so little is pending that new work will commit soon; otherwise resolves in order. */
  waitForRoom(): Promise<void> | undefined;
  beat(owner: string, everyMs: number): void;
  close(): Promise<void>;
}

/** Limit per turn, because the caller's thread has other work between commits. */
const commandsPerTurn = 64;

/**
 * Everything submitted in one turn of the event loop, and everything that arrives while the thread is busy, commits
 * together. The thread starts with the first claim. Starting takes longer than all that a session writes before its
 * first step, so until then the caller's thread commits. After handing over, it never does again.
 */
export class ThreadWriter implements WriterClient {
  readonly #path: string;
  readonly #files: DatabaseFiles;
  #worker: Worker | undefined;
  #isEarly = true;
  #early: Writer | undefined;
  #queue: Command[] = [];
  /** When nothing is pending, the thread alone must not keep the process alive. */
  readonly #answers = new Answers(() => this.#closing === undefined && this.#worker?.unref());
  /** Notified after each message. The thread sleeps on it, which costs less than an event loop of its own. */
  readonly #bell = new Int32Array(new SharedArrayBuffer(4));
  /** Also sent to a thread that replaces a dead one. */
  #heart: Extract<ToThread, { readonly beat: string }> | undefined;
  #closed: (() => void) | undefined;
  #closing: Promise<void> | undefined;
  #startedAt = 0;
  #restart: NodeJS.Timeout | undefined;

  constructor(path: string, files: DatabaseFiles) {
    this.#path = path;
    this.#files = files;
  }

  submit(command: Command): Promise<Reply> {
    return new Promise((resolve) => {
      this.#answers.expect(resolve);
      // Not a microtask: a busy chain of awaits would starve timers.
      if (this.#queue.push(command) === 1) setImmediate(() => this.#flush());
    });
  }

  waitForRoom(): Promise<void> | undefined {
    return this.#answers.waitForRoom();
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
    while (this.#isEarly && this.#queue.length > 0) this.#flush();
    this.#handOver();
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
    if (this.#isEarly) return this.#flushHere();
    if (this.#queue.length === 0) return;
    const commands = this.#queue;
    this.#queue = [];
    try {
      this.#post(commands);
      this.#worker?.ref();
    } catch (error) {
      // No thread could be started.
      this.#answers.give(commands.map(() => failed(error)));
    }
  }

  #flushHere(): void {
    if (this.#queue.length === 0) return;
    const replies = this.#commitHere(this.#queue.slice(0, commandsPerTurn));
    // Another process is writing and may take long, and this thread has other work.
    if (replies === undefined) return this.#handOver();
    this.#queue = this.#queue.slice(commandsPerTurn);
    this.#answers.give(replies);
    if (this.#queue.length > 0) setImmediate(() => this.#flush());
  }

  #commitHere(commands: readonly Command[]): Reply[] | undefined {
    try {
      this.#early ??= new Writer(openAgain(this.#path, this.#files), this.#files);
      return this.#early.commitAtOnce(commands);
    } catch (error) {
      return commands.map(() => failed(error));
    }
  }

  /** Posts to a running thread, or to one that receives it all when it has started. */
  #handOver(): void {
    this.#early?.close();
    this.#early = undefined;
    this.#isEarly = false;
    this.#flush();
  }

  #post(message: ToThread): void {
    this.#worker ??= this.#start();
    this.#worker.postMessage(message);
    Atomics.add(this.#bell, 0, 1);
    Atomics.notify(this.#bell, 0);
  }

  /** Only drivers need the thread. A command that only sends a signal starts none. */
  #start(): Worker {
    this.#startedAt = performance.now();
    const entry = codeFile("store/sqlite/writer-thread");
    const { identities } = this.#files;
    const workerData: ThreadData = { path: this.#path, identities, bell: this.#bell, armed: armedFault() };
    const worker = new Worker(entry, { workerData, name: "maestro-writer" });
    worker.on("message", (message: FromThread) => {
      if (message === "closed") this.#closed?.();
      else if (message !== "ready") this.#answers.give(message);
      else if (this.#isEarly) this.#handOver();
    });
    worker.on("error", (error) => this.#fail(worker, error as Error));
    // A thread that is terminated from outside reports no error.
    worker.on("exit", (code) => this.#fail(worker, new Error(`it ended with code ${code}`)));
    worker.unref();
    if (this.#heart !== undefined) worker.postMessage(this.#heart);
    return worker;
  }

  /**
   * The thread is gone, and it is unknown whether its commands were committed; the next claim reads that from the
   * journal. Commands it had not received go to a new thread, which starts now if sessions are driven: their leases
   * need its beats even while no session writes.
   */
  #fail(worker: Worker, cause: Error): void {
    // Closed, or already reported.
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const { errcode } = cause as { errcode?: number };
    const stopped = Object.assign(new Error(`the writer thread stopped: ${cause.message}`), { errcode });
    this.#answers.giveAll(failed(this.#files.findRemoval() ?? stopped), this.#queue.length);
    this.#closed?.();
    if (this.#isEarly) this.#handOver();
    if (this.#heart !== undefined && this.#closing === undefined) this.#beatAgain(this.#heart);
  }

  /** A thread that cannot start is retried with each beat. */
  #beatAgain(heart: { readonly everyMs: number }): void {
    const sinceStartMs = performance.now() - this.#startedAt;
    clearTimeout(this.#restart);
    const restart = () => {
      if (this.#closing !== undefined || this.#worker !== undefined) return;
      try {
        this.#worker = this.#start();
      } catch {
        // The system refuses another thread.
        this.#beatAgain(heart);
      }
    };
    this.#restart = setTimeout(restart, Math.max(0, heart.everyMs - sinceStartMs)).unref();
  }
}

/** The same writer on the caller's own thread, for databases in memory. */
export class InlineWriter implements WriterClient {
  readonly #writer: Writer;
  #queue: { command: Command; resolve: Resolve }[] = [];

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  submit(command: Command): Promise<Reply> {
    return new Promise((resolve) => {
      if (this.#queue.push({ command, resolve }) === 1) setImmediate(() => this.#flush());
    });
  }

  waitForRoom(): undefined {
    return undefined;
  }

  beat(): void {
    // A database in memory has one process, so no other process judges its leases.
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

type Resolve = (reply: Reply) => void;

/** Each answer wakes a session that works until its next step. After this many, other work gets its turn. */
const perTurn = 16;
/** One full commit in progress and one that fills up. Work beyond that would only wait and use memory. */
const roomFor = 128;

/** Callers that wait for a commit, in the order of their commands, and callers that wait for room. */
export class Answers {
  /** Entries of answered callers are cleared. */
  readonly #waiting: (Resolve | undefined)[] = [];
  #answered = 0;
  readonly #replies: Reply[] = [];
  readonly #beginners: (() => void)[] = [];
  #isTurnOver = true;
  readonly #onQuiet: () => void;

  /** `onQuiet`: called when nothing is pending. */
  constructor(onQuiet: () => void) {
    this.#onQuiet = onQuiet;
  }

  /** Undefined: start now. Callers continue in order, because the order of requests distinguishes steps. */
  waitForRoom(): Promise<void> | undefined {
    if (this.#beginners.length === 0 && this.#isRoomy) return undefined;
    return new Promise((resolve) => this.#beginners.push(resolve));
  }

  expect(resolve: Resolve): void {
    this.#waiting.push(resolve);
  }

  give(replies: readonly Reply[]): void {
    this.#replies.push(...replies);
    if (this.#isTurnOver) this.#takeTurn();
  }

  /** Answers all but the last few callers, for replies that are already there. */
  giveAll(reply: Reply, exceptLast: number): void {
    for (const given of this.#replies.splice(0)) this.#answer(given);
    while (this.#underWay > exceptLast) this.#answer(reply);
    if (this.#isTurnOver) this.#takeTurn();
  }

  get #underWay(): number {
    return this.#waiting.length - this.#answered;
  }

  get #isRoomy(): boolean {
    return this.#underWay < roomFor;
  }

  #answer(reply: Reply): void {
    const resolve = this.#waiting[this.#answered];
    this.#waiting[this.#answered] = undefined;
    this.#answered += 1;
    resolve?.(reply);
  }

  #takeTurn(): void {
    for (const reply of this.#replies.splice(0, perTurn)) this.#answer(reply);
    if (this.#isRoomy) for (const begin of this.#beginners.splice(0, perTurn)) begin();
    this.#forgetAnswered();
    this.#isTurnOver = false;
    setImmediate(() => {
      this.#isTurnOver = true;
      if (this.#replies.length > 0 || (this.#beginners.length > 0 && this.#isRoomy)) this.#takeTurn();
    });
  }

  #forgetAnswered(): void {
    if (this.#underWay === 0) {
      this.#waiting.length = 0;
      this.#answered = 0;
      this.#onQuiet();
    } else if (this.#answered > 1_024) {
      this.#waiting.splice(0, this.#answered);
      this.#answered = 0;
    }
  }
}

const commits = channel(commitChannel);

/** Reports the duration of a write to its listeners. */
export function measureCommit<T>(verb: string, write: Promise<T>): Promise<T> {
  return commits.hasSubscribers ? measured(verb, write) : write;
}

async function measured<T>(verb: string, write: Promise<T>): Promise<T> {
  const startedMs = performance.now();
  try {
    return await write;
  } finally {
    commits.publish({ verb, durationMs: performance.now() - startedMs } satisfies CommitMeasured);
  }
}

/** A class instead of a literal: see ADR 2. */
export class AppendCommand implements AppendRows {
  readonly verb = "append";
  readonly session: number;
  readonly epoch: number;
  readonly owner: string;
  readonly at: number;
  readonly rows: readonly RowToWrite[];
  readonly effects: Effects;

  constructor(
    session: number,
    epoch: number,
    owner: string,
    at: number,
    rows: readonly RowToWrite[],
    effects: Effects,
  ) {
    this.session = session;
    this.epoch = epoch;
    this.owner = owner;
    this.at = at;
    this.rows = rows;
    this.effects = effects;
  }
}
