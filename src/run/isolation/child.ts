import { enableCompileCache } from "node:module";
import { Worker } from "node:worker_threads";
import { codeFile } from "../../package-files.ts";

// The process of one attempt of a function persona. Its argument is its memory limit in MiB.

// First of all: from here on it ends with its parent.
const watcher = new Worker(codeFile("run/isolation/watch"), {
  workerData: Number(process.argv[2]),
  name: "maestro-watch",
  execArgv: [],
  resourceLimits: { maxOldGenerationSizeMb: 32 },
});
watcher.unref();
enableCompileCache();
const { runWork } = await import("./child-work.ts");
runWork();
