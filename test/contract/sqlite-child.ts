import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/domain/clock.ts";
import type { SessionId } from "../../src/domain/ids.ts";
import { SqliteStore } from "../../src/state/sqlite/sqlite-store.ts";
import { newSession } from "./store-under-test.ts";

/** What a process of its own does with a database; started by `runChild`. */
const acts = {
  "claim-and-die": async (path: string, id: string) => {
    const store = new SqliteStore({ path, clock: systemClock, leaseMs: 600_000 });
    await store.claimSession(id as SessionId, "start");
    process.kill(process.pid, "SIGKILL");
  },
  create: async (path: string) => {
    const store = new SqliteStore({ path, clock: systemClock, leaseMs: 15_000 });
    const { session } = await store.createSession(newSession());
    await store.close();
    process.stdout.write(session.id);
  },
} as const;

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export async function runChild(act: keyof typeof acts, ...values: string[]): Promise<Ended> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), act, ...values]);
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { code, signal, ...output };
}

if (import.meta.main) {
  const [act, ...values] = process.argv.slice(2);
  await acts[act as keyof typeof acts](values[0] ?? "", values[1] ?? "");
}
