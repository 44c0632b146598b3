import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/domain/clock.ts";
import type { SessionId } from "../../src/domain/ids.ts";
import { SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { alwaysNoon, limit, request, settle, took } from "./ledger-support.ts";
import { createAndClaim, newSession } from "./store-under-test.ts";

/** Acts of a separate process on a database; started by `runChild`. */
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
  /** Asks for 16 calls at once and says how many it got; ends without settling any. */
  "reserve-at-once": async (path: string, dayTokens: string) => {
    const store = new SqliteStore({ path, clock: alwaysNoon, leaseMs: 600_000 });
    const { lease } = await createAndClaim(store);
    const limits = [limit("day", { tokens: Number(dayTokens) })];
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => store.reserve(lease, request({ limits }))),
    );
    await store.close();
    process.stdout.write(String(answers.filter(({ kind }) => kind === "granted").length));
  },
  /** Calls and settles until the day refuses; says how many calls it made. */
  "spend-the-day": async (path: string, dayTokens: string) => {
    const store = new SqliteStore({ path, clock: alwaysNoon, leaseMs: 600_000 });
    const { lease } = await createAndClaim(store);
    const limits = [limit("day", { tokens: Number(dayTokens) })];
    let calls = 0;
    const spend = async (): Promise<void> => {
      for (;;) {
        const answer = await store.reserve(lease, request({ limits }));
        if (answer.kind === "exceeded") return;
        if (answer.kind === "granted") {
          await settle(store, lease, answer.reservation, took(61));
          calls += 1;
        }
      }
    };
    await Promise.all([spend(), spend(), spend()]);
    await store.close();
    process.stdout.write(String(calls));
  },
  "reserve-and-die": async (path: string, id: string) => {
    const store = new SqliteStore({ path, clock: alwaysNoon, leaseMs: 600_000 });
    const { lease } = await store.claimSession(id as SessionId, "start");
    await store.reserve(lease, request());
    process.kill(process.pid, "SIGKILL");
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
