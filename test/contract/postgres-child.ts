import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/domain/clock.ts";
import { LeaseHeld, LeaseLost } from "../../src/domain/errors.ts";
import type { SessionId } from "../../src/domain/ids.ts";
import type { Lease } from "../../src/store/journal.ts";
import { PostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { granted, limit, took } from "./ledger-support.ts";
import { readAll, step } from "./store-under-test.ts";

/** Acts of a separate process on a database; started by `runOnPostgres`. */
const acts = {
  "claim-and-die": async (address: string, id: string) => {
    const store = await PostgresStore.open({ address, clock: systemClock, leaseMs: 600_000 });
    await store.claimSession(id as SessionId, "start");
    process.kill(process.pid, "SIGKILL");
  },
  /** Appends a step after the other until it is refused, and says by what. */
  "write-for-ever": async (address: string, id: string, leaseMs: string) => {
    pretendOtherMachine();
    const store = await PostgresStore.open({ address, clock: systemClock, leaseMs: Number(leaseMs) });
    const { lease } = await store.claimSession(id as SessionId, "start");
    try {
      for (let number = 1; ; number += 1) await store.append(lease, [step(number)]);
    } catch (error) {
      process.stdout.write((error as Error).name);
    }
    await store.close();
  },
  /** Takes sessions and pays for each of their steps, until it is killed. */
  work: async (address: string, _: string, leaseMs: string) => {
    pretendOtherMachine();
    const store = await PostgresStore.open({ address, clock: systemClock, leaseMs: Number(leaseMs) });
    const driving = new Set<Promise<void>>();
    for (;;) {
      await store.take(placesOfWorker - driving.size, async ({ session: { id } }) => (claim) => {
        const drive = claim.then(({ lease }) => finish(store, id, lease)).catch(reportUnlessLost);
        driving.add(drive);
        void drive.finally(() => driving.delete(drive));
      });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  },
} as const;

const placesOfWorker = 6;
export const stepsOfWork = 25;

/** Continues after the recorded steps. */
async function finish(store: PostgresStore, id: SessionId, lease: Lease): Promise<void> {
  const rows = await readAll(store, id);
  const recorded = rows.filter(({ kind }) => kind === "step.function").length;
  for (let number = recorded + 1; number <= stepsOfWork; number += 1) {
    const reservation = await granted(store, lease, { limits: [limit("day", { tokens: 10 ** 9 })] });
    const settlement = { reservation, spent: took(10), failed: false };
    await store.append(lease, [step(number)], { settlement });
  }
  await store.append(lease, [{ kind: "session.status", status: "completed" }]);
  await store.releaseSession(lease);
}

function reportUnlessLost(error: unknown): void {
  if (!LeaseLost.is(error) && !LeaseHeld.is(error)) process.stdout.write(`${String(error)}\n`);
}

/** Other processes see neither its pid nor its boot: only what it writes shows that it lives. */
function pretendOtherMachine(): void {
  const original = fs.readFileSync;
  const boot = randomUUID();
  fs.readFileSync = ((path: string, ...rest: never[]) =>
    path === "/proc/sys/kernel/random/boot_id" || path === "/etc/machine-id"
      ? boot
      : original(path, ...rest)) as typeof original;
  syncBuiltinESMExports();
}

export function startOnPostgres(act: keyof typeof acts, ...values: string[]) {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), act, ...values]);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const closed = once(child, "close");
  return { process: child, output: async () => closed.then(() => output) };
}

export async function runOnPostgres(act: keyof typeof acts, ...values: string[]): Promise<void> {
  const child = startOnPostgres(act, ...values);
  const output = await child.output();
  const { exitCode, signalCode } = child.process;
  if (exitCode !== 0 && signalCode !== "SIGKILL") throw new Error(`${act} ended with ${exitCode}: ${output}`);
}

if (import.meta.main) {
  const [act, ...values] = process.argv.slice(2);
  const [address = "", id = "", leaseMs = ""] = values;
  await acts[act as keyof typeof acts](address, id, leaseMs);
}
