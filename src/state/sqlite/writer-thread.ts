import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { type ArmedFault, armFault } from "../fault-points.ts";
import { uptimeMs } from "../owner.ts";
import type { Command, Reply } from "./command.ts";
import { openDatabase } from "./open-database.ts";
import { Writer } from "./writer.ts";

export interface ThreadData {
  readonly path: string;
  readonly fault: ArmedFault | undefined;
}

/** `beat`: from now on tell every so often that this owner lives. On this thread, because the other may be busy. */
export type ToThread = readonly Command[] | { readonly beat: string; readonly everyMs: number } | "close";
export type FromThread = readonly Reply[] | "closed";

const { path, fault } = workerData as ThreadData;
const port = parentPort;
if (port === null) throw new Error("writer-thread.ts runs only as a worker thread");
armFault(fault);
const writer = new Writer(openDatabase(path));
let heart: NodeJS.Timeout | undefined;

/** Enough to make the cost of the disk small, few enough that one batch of answers does not hold up the other thread. */
const commandsPerCommit = 256;

port.on("message", (first: ToThread) => {
  // Everything that queued up while the last commit was on its way to the disk goes into the next one.
  let commands: Command[] = [];
  for (let message: ToThread | undefined = first; message !== undefined; message = next()) {
    if (message === "close") {
      flush(commands);
      close();
      return;
    }
    if ("beat" in message) startBeating(message.beat, message.everyMs);
    else commands.push(...message);
    while (commands.length >= commandsPerCommit) {
      flush(commands.slice(0, commandsPerCommit));
      commands = commands.slice(commandsPerCommit);
    }
  }
  flush(commands);
});

function next(): ToThread | undefined {
  return receiveMessageOnPort(port as NonNullable<typeof port>)?.message as ToThread | undefined;
}

function flush(commands: readonly Command[]): void {
  if (commands.length > 0) port?.postMessage(writer.commit(commands) satisfies FromThread);
}

function startBeating(owner: string, everyMs: number): void {
  clearInterval(heart);
  heart = setInterval(() => {
    try {
      writer.beat(owner, uptimeMs(), Date.now());
    } catch {
      // A full disk must not end the thread; a lease that runs out is refused at the next write.
    }
  }, everyMs);
}

function close(): void {
  clearInterval(heart);
  writer.close();
  port?.postMessage("closed" satisfies FromThread);
  port?.close();
}
