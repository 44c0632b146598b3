import { mkdirSync } from "node:fs";
import type { ReservationId } from "../../../src/domain/ledger.ts";
import { isStep } from "../../../src/journal/journal-codec.ts";
import { type ArmedFault, armFault } from "../../../src/store/fault-points.ts";
import type { ReservationRequest } from "../../../src/store/journal.ts";
import { newSession } from "../../contract/store-under-test.ts";
import { leaveMark } from "./effects.ts";
import { openStore } from "./recorded.ts";

/** A process that pays for calls through the store alone, like a driver, and continues where another one died. */
export interface SpendOptions {
  readonly stateDir: string;
  readonly marks: string;
  readonly key: string;
  readonly act: "spend" | "ask over the day" | "delete";
  /** How many calls the session makes before it does the rest. */
  readonly calls?: number | undefined;
  /** Tokens of each call; a token costs a micro-dollar. */
  readonly askedTokens: number;
  readonly takenTokens: number;
  readonly fault?: ArmedFault | undefined;
}

const options = JSON.parse(process.argv[2] ?? "") as SpendOptions;
const { stateDir, marks, key, act, calls = 2, askedTokens, takenTokens, fault } = options;
const usage = {
  inputTokens: takenTokens - 5,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 5,
  reasoningTokens: 0,
};
const request: ReservationRequest = {
  phase: "design",
  persona: "architect",
  round: 1,
  attempt: 1,
  started: 2,
  model: "openai/gpt-5",
  asked: { tokens: askedTokens, microUsd: askedTokens },
  limits: [],
};

armFault(fault);
mkdirSync(stateDir, { recursive: true, mode: 0o700 });
const store = openStore(stateDir);
if (act === "spend") await spend();
if (act === "ask over the day") await askOverTheDay();
if (act === "delete") await remove();
await store.close();

async function claim() {
  const { session } = await store.createSession(newSession({ key }));
  return (await store.claimSession(session.id, "start")).lease;
}

async function spend(): Promise<void> {
  const lease = await claim();
  const recorded = new Set<string | null>();
  for await (const page of store.readJournal(lease.sessionId))
    for (const row of page) if (isStep(row)) recorded.add(row.name);
  for (let number = 1; number <= calls; number += 1) {
    const name = `call ${number}`;
    if (recorded.has(name)) continue;
    const reservation = await reserve(lease);
    leaveMark(marks, name);
    const row = { kind: "step.function", attempt: 2, name, fingerprint: name, occurrence: 1 } as const;
    const settlement = { reservation, spent: { usage, costMicroUsd: takenTokens }, failed: false };
    await store.append(lease, [{ ...row, body: "{}" }], { settlement });
  }
  await store.withdraw(lease, await reserve(lease));
  const used = takenTokens * calls;
  const numbers = { unit: "tokens", limit: 70, used, expected: null } as const;
  await store.append(lease, [], {
    alerts: [{ kind: "threshold", level: "session", name: lease.sessionId, ...numbers }],
  });
  await store.releaseSession(lease);
}

/** Reservations of a dead driver block the call. */
async function askOverTheDay(): Promise<void> {
  const lease = await claim();
  const limits = [{ level: "day", budget: { tokens: askedTokens + 1 } }] as const;
  await store.reserve(lease, { ...request, limits });
  await store.releaseSession(lease);
}

async function remove(): Promise<void> {
  const session = await store.findSession(key);
  if (session !== undefined) await store.deleteSession(session.id);
  await store.maintenance.reclaimSpace();
}

async function reserve(lease: Awaited<ReturnType<typeof claim>>): Promise<ReservationId> {
  const answer = await store.reserve(lease, request);
  if (answer.kind !== "granted") throw new Error(`not granted: ${JSON.stringify(answer)}`);
  return answer.reservation;
}
