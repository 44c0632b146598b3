import { availableParallelism } from "node:os";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { Command, Reply } from "../command.ts";
import { type armedFault, armFault } from "../fault-points.ts";
import { uptimeMs } from "../owner.ts";
import { DatabaseFiles, type Identities } from "./database-files.ts";
import { growLog, openAgain } from "./open-database.ts";
import { Writer } from "./writer.ts";

export interface ThreadData {
  readonly path: string;
  readonly identities: Identities;
  readonly bell: Int32Array;
  readonly armed: ReturnType<typeof armedFault>;
}

/** `beat`: from now on, beat for this owner at an interval. On this thread, because the other may be busy. */
export type ToThread = readonly Command[] | { readonly beat: string; readonly everyMs: number } | "close";
export type FromThread = readonly Reply[] | "ready" | "closed";

const { path, identities, bell, armed } = workerData as ThreadData;
const port = parentPort;
if (port === null) throw new Error("writer-thread.ts runs only as a worker thread");
armFault(armed?.fault, armed?.hits);
const files = new DatabaseFiles(path, identities);
const database = openAgain(path, files);
growLog(database, path);
// After it, because it sets how its connection waits.
const writer = new Writer(database, files);
let heart: { readonly owner: string; readonly everyMs: number; nextAt: number } | undefined;

/** Enough to make the disk's cost small, few enough that answers do not hold up the other thread. */
const commandsPerCommit = 256;

/** A session's next step often follows immediately, and sleeping and waking takes a quarter as long as its commit. */
const awakeMs = availableParallelism() > 1 ? 0.2 : 0;

port.postMessage("ready" satisfies FromThread);
// No event loop: waking through one costs a step another 25 us, and this thread has nothing else to do.
for (let rung = Atomics.load(bell, 0); work(); rung = Atomics.load(bell, 0)) {
  beatWhenDue();
  stayAwake(rung);
  Atomics.wait(bell, 0, rung, heart === undefined ? Infinity : heart.nextAt - performance.now());
}

function stayAwake(rung: number): void {
  const until = performance.now() + awakeMs;
  while (Atomics.load(bell, 0) === rung && performance.now() < until);
}

/** Commands that queued up during the last commit go into the next one. False: closed. */
function work(): boolean {
  let commands: Command[] = [];
  for (let message = next(); message !== undefined; message = next()) {
    if (message === "close") {
      flush(commands);
      close();
      return false;
    }
    if ("beat" in message) startBeating(message.beat, message.everyMs);
    else commands.push(...message);
    while (commands.length >= commandsPerCommit) {
      flush(commands.slice(0, commandsPerCommit));
      commands = commands.slice(commandsPerCommit);
      beatWhenDue();
    }
  }
  flush(commands);
  return true;
}

function next(): ToThread | undefined {
  return receiveMessageOnPort(port as NonNullable<typeof port>)?.message as ToThread | undefined;
}

function flush(commands: readonly Command[]): void {
  if (commands.length > 0) port?.postMessage(writer.commit(commands) satisfies FromThread);
}

function startBeating(owner: string, everyMs: number): void {
  heart = { owner, everyMs, nextAt: performance.now() + everyMs };
}

function beatWhenDue(): void {
  if (heart === undefined || performance.now() < heart.nextAt) return;
  heart.nextAt = performance.now() + heart.everyMs;
  try {
    writer.beat(heart.owner, uptimeMs(), Date.now());
  } catch {
    // A full disk must not end the thread. An expired lease is refused at the next write, and the caller's thread
    // notices a removed database.
  }
}

function close(): void {
  writer.close();
  port?.postMessage("closed" satisfies FromThread);
  port?.close();
}
