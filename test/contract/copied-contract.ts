import { describe, expect, test } from "vitest";
import { newSessionId, type SessionId } from "../../src/domain/ids.ts";
import type { RecordedRow, Transition } from "../../src/journal/journal.ts";
import { chainHash, chainStart, encodeEntry } from "../../src/journal/journal-codec.ts";
import type { CopiedRow, Store } from "../../src/store/store.ts";
import { statusRow } from "./status-row.ts";
import {
  createAndClaim,
  newSession,
  type OpenStore,
  openFor,
  readAll,
  refusalOf,
  step,
  steps,
} from "./store-under-test.ts";

const copiedAt = 5_000;
const phaseStarted: Transition = { kind: "phase.started", phase: "design" };

/** A session that brings rows of another life or of another session, and one that is read without its steps. */
export function copiedContract(open: OpenStore): void {
  describe("a session created with copied rows", () => {
    test("keeps their seq, epoch and time, chained anew, and appends new transitions behind them", async () => {
      const { store, clock } = await openFor(open);
      const given = withRows([at(7, phaseStarted), at(8, step(1), 3), at(40, parked, 3)]);
      const { session, row } = await store.createSession({ ...given, appended: [paused] });
      const rows = await readAll(store, given.id);
      expect(rows[0]).toEqual(row);
      expect(rows.map(({ seq, epoch, at, kind }) => [seq, epoch, at, kind])).toEqual([
        [1, 0, 1_000, "session.created"],
        [7, 1, copiedAt, "phase.started"],
        [8, 3, copiedAt, "step.function"],
        [40, 3, copiedAt, "session.status"],
        [41, 3, clock.now(), "session.status"],
      ]);
      expectChain(given.id, rows);
      expect(session).toMatchObject({ status: "paused", createdAt: 1_000, updatedAt: clock.now() });
    });

    test("continues behind them: the next claim has the next epoch and the next seq", async () => {
      const { store } = await openFor(open);
      const given = withRows([at(7, phaseStarted, 4), at(40, phaseStarted, 2)]);
      await store.createSession(given);
      const { lease, row } = await store.claimSession(given.id, "resume");
      expect([lease.epoch, row.seq, row.epoch]).toEqual([5, 41, 5]);
      const [appended] = await store.append(lease, [step(1)]);
      expect(appended?.seq).toBe(42);
      expectChain(given.id, await readAll(store, given.id));
    });

    test("has the status and the card that its rows make", async () => {
      const { store } = await openFor(open);
      const given = withRows([
        at(3, phaseStarted),
        at(9, { kind: "phase.completed", phase: "design" }),
        at(12, parked),
      ]);
      await store.createSession(given);
      expect(await store.findSession(given.id)).toMatchObject({ status: "parked", reason: "help" });
      const [listed] = await store.reports.listed([given.id]);
      expect(listed).toMatchObject({ status: "parked", statusAt: copiedAt });
      expect(listed?.card).toMatchObject({ brief: "brief", lastPhase: "design" });
    });

    test("points to its artifacts and to those of the session it names", async () => {
      const { store } = await openFor(open);
      const [own, inherited] = ["a".repeat(64), "b".repeat(64)];
      const parent = newSession();
      await store.createSession({ ...parent, artifacts: [inherited] });
      const fork = newSession();
      await store.createSession({ ...fork, artifacts: [own], artifactsOf: parent.id });
      await store.deleteSession(parent.id);
      expect(await store.reports.findReferenced([own, inherited], fork.id)).toEqual(
        new Set([own, inherited]),
      );
    });

    test("counts the given usage against the budgets of session, phase and persona", async () => {
      const { store } = await openFor(open);
      const given = withRows([at(7, phaseStarted)]);
      const place = { day: "2026-01-01", phase: "design", persona: "architect", model: "anthropic/claude" };
      const sums = { calls: 2, input_tokens: 30, output_tokens: 12, cost_micro_usd: 70 };
      await store.createSession({ ...given, usage: [{ ...place, sums }] });
      const totals = await store.reports.totals(given.id);
      expect(totals.map(({ level, used }) => [level, used.tokens, used.microUsd])).toEqual([
        ["persona", 42, 70],
        ["phase", 42, 70],
        ["session", 42, 70],
        ["day", 42, 70],
      ]);
      const [snapshot] = await store.reports.snapshot(given.id);
      expect(snapshot).toMatchObject({ ...place, sums });
    });

    test("is created whole or not at all", async () => {
      const { store } = await openFor(open);
      const given = withRows([at(7, phaseStarted), at(7, phaseStarted)]);
      expect(await refusalOf(store.createSession(given))).toBeDefined();
      expect(await store.findSession(given.id)).toBeUndefined();
      await store.createSession(withRows([at(7, phaseStarted)], given.id));
      expect(await readAll(store, given.id)).toHaveLength(2);
    });

    test("reads from any seq, also from one that was never copied", async () => {
      const { store } = await openFor(open);
      const given = withRows([at(7, phaseStarted), at(2_000, step(1)), at(9_000, step(2))]);
      await store.createSession(given);
      const { lease } = await store.claimSession(given.id, "resume");
      await store.append(lease, steps(2_100));
      const rows = await readAll(store, given.id);
      for (const afterSeq of [0, 1, 2, 6, 7, 8, 1_999, 2_000, 2_001, 9_000, 9_001, 11_000])
        expect(await readAll(store, given.id, afterSeq)).toEqual(rows.filter(({ seq }) => seq > afterSeq));
      const few: number[] = [];
      for await (const page of store.readJournal(given.id, 3, 2)) few.push(...page.map(({ seq }) => seq));
      expect(few).toEqual([7, 2_000]);
    });
  });

  describe("transitions", () => {
    test("are read in order without the steps between them", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const other = await createAndClaim(store);
      for (let phase = 0; phase < 5; phase += 1) {
        await store.append(lease, [{ kind: "phase.started", phase: `p${phase}` }, ...steps(600)]);
        await store.append(other.lease, [{ kind: "phase.started", phase: "of another session" }]);
      }
      const all = await readAll(store, id);
      expect(all).toHaveLength(3_007);
      expect(await transitionsOf(store, id)).toEqual(all.filter(({ attempt }) => attempt === null));
    });

    test("come in bounded pages", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      await store.append(
        lease,
        Array.from({ length: 2_300 }, () => phaseStarted),
      );
      const sizes: number[] = [];
      for await (const page of store.readTransitions(id)) sizes.push(page.length);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000);
      expect(sizes.reduce((sum, size) => sum + size)).toBe(2_302);
    });

    test("include received signals, claims and copied rows", async () => {
      const { store } = await openFor(open);
      const given = withRows([at(7, phaseStarted), at(8, step(1))]);
      await store.createSession(given);
      await store.signal(given.id, { action: "pause" });
      await store.claimSession(given.id, "start");
      const kinds = (await transitionsOf(store, given.id)).map(({ seq, kind }) => [seq, kind]);
      expect(kinds).toEqual([
        [1, "session.created"],
        [7, "phase.started"],
        [9, "signal.received"],
        [10, "session.claimed"],
      ]);
    });

    test("of a deleted session are gone with it", async () => {
      const { store } = await openFor(open);
      const given = newSession();
      await store.createSession(given);
      await store.deleteSession(given.id);
      expect(await refusalOf(transitionsOf(store, given.id))).toBe("SessionNotFound");
      await store.createSession(given);
      expect(await transitionsOf(store, given.id)).toHaveLength(1);
    });
  });
}

const parked = statusRow("parked");
const paused: Transition = { kind: "session.status", status: "paused", by: "person" };

function withRows(copied: readonly CopiedRow[], id = newSessionId()) {
  return { ...newSession({ id }), createdAt: 1_000, copied };
}

function at(seq: number, entry: Transition | ReturnType<typeof step>, epoch = 1): CopiedRow {
  return { ...encodeEntry(entry), seq, epoch, at: copiedAt };
}

async function transitionsOf(store: Store, id: SessionId): Promise<RecordedRow[]> {
  const rows: RecordedRow[] = [];
  for await (const page of store.readTransitions(id)) rows.push(...page);
  return rows;
}

function expectChain(id: string, rows: readonly RecordedRow[]): void {
  let previous = chainStart(id);
  for (const row of rows) {
    previous = chainHash(previous, row);
    expect([row.seq, row.hash]).toEqual([row.seq, previous]);
  }
}
