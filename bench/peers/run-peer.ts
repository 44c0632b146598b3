import { spawnSync } from "node:child_process";
import { onceWithLimit } from "../limit.ts";
import { type Harness, nodeFor } from "./harness.ts";
import type { Peer } from "./known-peers.ts";

export type Result = Readonly<Record<string, string | number | boolean | null>>;

const timeoutMs = 100_000;
const builtPackage = new URL("../../dist/index.js", import.meta.url).href;

/** All runs of one peer, as in run.sh's `peer`; a run without output is an error in its place. */
export async function* runPeer(harness: Harness, peer: Peer): AsyncGenerator<Result> {
  const { middle = 1_000, long = 10_000, crash = 1_000 } = peer;
  const run = (args: readonly (string | number)[], capMs?: number) => runOnce(harness, peer, args, capMs);
  yield run(["seq", 100]);
  yield run(["seq", middle]);
  if (long > 0) yield run(["seq", long], 30_000);
  yield run(["conc", 100, 20]);
  if (crash === 0) return;
  if (peer.name === "dbos") resetDatabase();
  run(["crash", crash]);
  // The harness measures the limit beside steps only.
  const { value, limit } = await onceWithLimit(harness.data, () => run(["resume", crash], 60_000));
  yield { limit: Math.round(limit), ...value };
}

function runOnce(harness: Harness, peer: Peer, args: readonly (string | number)[], capMs?: number): Result {
  spawnSync("sync");
  const env = {
    ...process.env,
    ...peer.env,
    PERF_DATA: harness.data,
    HIVE_DIST: builtPackage,
    T0: String(Date.now()),
    ...(capMs !== undefined && { CAP_MS: String(capMs) }),
  };
  const { stdout, stderr } = spawnSync(nodeFor(harness, peer), [peer.file, ...args.map(String)], {
    cwd: harness.folder,
    env,
    encoding: "utf8",
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
  const line = stdout.split("\n").find((text) => text.startsWith("RESULT "));
  if (line !== undefined) return JSON.parse(line.slice("RESULT ".length)) as Result;
  const error = stderr.split("\n").find((text) => /error/i.test(text)) ?? "no result";
  return { peer: peer.name, test: args.join(" "), error: error.slice(0, 100) };
}

/** Unfinished work of earlier runs would be recovered during this one. */
function resetDatabase(): void {
  const url = process.env["PGURL"] ?? "";
  const database = url.slice(url.lastIndexOf("/") + 1);
  const maintenance = `${url.slice(0, url.lastIndexOf("/"))}/postgres`;
  for (const command of [`drop database if exists ${database} with (force)`, `create database ${database}`])
    spawnSync("psql", ["-q", maintenance, "-c", command]);
}
