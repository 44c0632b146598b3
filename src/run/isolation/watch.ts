import { writeSync } from "node:fs";
import { Socket } from "node:net";
import { workerData } from "node:worker_threads";
import { descriptors, outOfMemory } from "./protocol.ts";

// A thread beside the function, which may loop for ever: ends the process group when the parent dies, and when the process
// uses too much memory. The heap has a limit of V8's own; buffers have none.

const memoryMb = workerData as number;
const lookMs = 100;

const end = (): void => {
  process.kill(-process.pid, "SIGKILL");
};

const lifeline = new Socket({ fd: descriptors.lifeline, readable: true, writable: false });
lifeline.on("error", end).on("close", end).resume();

setInterval(() => {
  if (process.memoryUsage.rss() <= memoryMb * 1024 * 1024) return;
  writeSync(descriptors.lifeline, outOfMemory);
  end();
}, lookMs);
