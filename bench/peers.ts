import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { requireFreshBuild } from "./built-package.ts";
import { copyHarness, reasonToSkip } from "./peers/harness.ts";
import { knownPeers } from "./peers/known-peers.ts";
import { type Result, runPeer } from "./peers/run-peer.ts";
import { formatTable } from "./table.ts";

const columns = {
  peer: "peer",
  test: "test",
  "steps/s": "stepsPerSec",
  limit: "limit",
  "% of limit": "pctOfLimit",
  "flushes/step": "flushPerStep",
  "p50 ms": "p50ms",
  "p99 ms": "p99ms",
  "first 100 ms": "first100ms",
  "last 100 ms": "last100ms",
  "bytes/step": "bytesPerStep",
  "loop max ms": "eldMaxMs",
  "RSS MB": "rssMB",
  "cold ms": "coldMs",
  complete: "complete",
  "resume ms": "resumeMs",
  "recorded steps run again": "reexecutedCompleted",
  error: "error",
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: "string", multiple: true } },
});
const [given] = positionals;
if (given === undefined)
  throw new Error("Usage: npm run bench:peers -- <harness directory> [--only <peer>]...");
requireFreshBuild();

const harness = copyHarness(given, fileURLToPath(new URL(".data/", import.meta.url)));
const results: Result[] = [];
const skipped = new Set<string>();
try {
  for (const peer of knownPeers) {
    if (values.only !== undefined && !values.only.includes(peer.name)) continue;
    const why = reasonToSkip(harness, peer);
    if (why !== undefined) {
      skipped.add(`skipped ${peer.name}: ${why}`);
      continue;
    }
    for await (const result of runPeer(harness, peer)) {
      process.stderr.write(`${result["peer"]} ${result["test"]}: ${result["error"] ?? "done"}\n`);
      results.push(result);
    }
  }
} finally {
  rmSync(dirname(harness.folder), { recursive: true, force: true });
}

const lines = results.map((result) => Object.values(columns).map((field) => String(result[field] ?? "")));
process.stdout.write([formatTable(Object.keys(columns), lines), "", ...skipped, ""].join("\n"));
