import { onTestFinished, vi } from "vitest";
import { fingerprint } from "../../src/domain/canonical.ts";
import type { Clock } from "../../src/domain/clock.ts";
import type { Position } from "../../src/domain/cursor.ts";
import { newSessionId, type SessionId } from "../../src/domain/ids.ts";
import { ManualClock } from "../../src/domain/manual-clock.ts";
import type { RecordedRow, StepRow } from "../../src/journal/journal.ts";
import type { Lease } from "../../src/store/journal.ts";
import type { JournalChange, ListingQuery } from "../../src/store/reports.ts";
import type { NewSession, Store } from "../../src/store/store.ts";

/** A store and what the suite does to it from outside. */
export interface StoreUnderTest {
  readonly store: Store;
  /** Closes the store and opens what it left; absent when nothing outlives it. */
  readonly reopen?: () => Promise<Store>;
  /** Another store on the same data, as another process has it; absent when there can be none. */
  readonly another?: () => Promise<Store>;
  /** Lets another process claim the session and dies with it. */
  readonly claimAndDie?: (id: SessionId) => Promise<void>;
  /** Changes one row as a program does that can write the data; absent when there can be none. */
  readonly changeBody?: (id: SessionId, seq: number, body: string) => Promise<void>;
  close(): Promise<void>;
}

export type OpenStore = (clock: Clock) => Promise<StoreUnderTest>;

export interface Opened extends StoreUnderTest {
  readonly clock: ManualClock;
}

/** Opens for one test and cleans up after it. */
export async function openFor(open: OpenStore): Promise<Opened> {
  const clock = new ManualClock();
  const opened = await open(clock);
  onTestFinished(() => opened.close());
  return { ...opened, clock };
}

type Terms = Pick<NewSession["created"], "model" | "queue" | "priority">;

export function newSession(over: Partial<Omit<NewSession, "created">> = {}, terms: Terms = {}): NewSession {
  const { id = newSessionId(), key, team = "team", teamFingerprint = "t1" } = over;
  const identity = over.identity ?? fingerprint([team, "brief"]);
  const withKey = key === undefined ? {} : { key };
  return {
    id,
    ...withKey,
    team,
    teamFingerprint,
    identity,
    created: {
      kind: "session.created",
      team,
      definition: { name: team },
      teamFingerprint,
      brief: "brief",
      ...withKey,
      ...terms,
    },
  };
}

export async function createAndClaim(store: Store): Promise<{ id: SessionId; lease: Lease }> {
  const { session } = await store.createSession(newSession());
  const { lease } = await store.claimSession(session.id, "start");
  return { id: session.id, lease };
}

export function step(number: number, over: Partial<StepRow> = {}): StepRow {
  return {
    kind: "step.function",
    attempt: 2,
    name: `step ${number}`,
    fingerprint: `f${number}`,
    occurrence: 1,
    body: JSON.stringify({ result: number }),
    ...over,
  };
}

export function steps(count: number, from = 1): StepRow[] {
  return Array.from({ length: count }, (_, index) => step(from + index));
}

/** A query of all sessions. */
export const newestFirst: ListingQuery = { order: "created", limit: 100 };

export async function readAll(store: Store, id: SessionId, afterSeq?: number): Promise<RecordedRow[]> {
  const rows: RecordedRow[] = [];
  for await (const page of store.readJournal(id, afterSeq)) rows.push(...page);
  return rows;
}

/** A follower may see rows late, but in order: other transactions of the same server have to end first. */
export async function follow(store: Store, after: Position, count: number): Promise<JournalChange[]> {
  const seen: JournalChange[] = [];
  await vi.waitUntil(
    async () => {
      seen.push(...(await store.reports.changes(seen.at(-1)?.position ?? after, 100)));
      return seen.length >= count;
    },
    { timeout: 60_000 },
  );
  return seen;
}

/** The name of the error that a promise was rejected with; undefined when it was not. */
export async function refusalOf(promise: Promise<unknown>): Promise<string | undefined> {
  return promise.then(
    () => undefined,
    (error: unknown) => (error as Error).name,
  );
}

/** The sessions that the store would give to a process with places, in order; none is claimed. */
export async function takeable(store: Store): Promise<SessionId[]> {
  const ids: SessionId[] = [];
  await store.take(Number.POSITIVE_INFINITY, async ({ session }) => {
    ids.push(session.id);
    return undefined;
  });
  return ids;
}
