import { describe, expect, test } from "vitest";
import { LeaseLost } from "../../src/domain/errors.ts";
import type { Entry, RecordedRow } from "../../src/journal/journal.ts";
import { chainHash, chainStart, encodeEntry } from "../../src/journal/journal-codec.ts";
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

export function journalContract(open: OpenStore): void {
  describe("the journal", () => {
    test("rows come back as they were acknowledged, numbered without gaps", async () => {
      const { store, clock } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const odd = step(2, { name: "new\nline \u0000 \ud83d\ude00", body: '{"result":"\\u0000é😀"}' });
      const acknowledged = [...(await store.append(lease, [step(1), odd]))];
      await clock.advance(7);
      acknowledged.push(...(await store.append(lease, [{ kind: "phase.started", phase: "design" }])));
      const rows = await readAll(store, id);
      expect(rows.slice(2)).toEqual(acknowledged);
      expect(rows.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
      expect(rows[3]).toMatchObject({ ...odd, epoch: lease.epoch, at: clock.now() - 7 });
      expect(rows[4]).toMatchObject({ kind: "phase.started", attempt: null, at: clock.now() });
    });

    test("no more rows are read than are asked for", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      await store.append(lease, steps(1_200));
      const seqs = async (afterSeq: number, limit: number) => {
        const rows: number[] = [];
        for await (const page of store.readJournal(id, afterSeq, limit))
          rows.push(...page.map(({ seq }) => seq));
        return rows;
      };
      expect(await seqs(0, 1)).toEqual([1]);
      expect(await seqs(7, 2)).toEqual([8, 9]);
      expect(await seqs(100, 1_050)).toHaveLength(1_050);
      expect(await seqs(1_200, 50)).toEqual([1_201, 1_202]);
    });

    test("appends keep their order, however many are under way", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      await Promise.all(steps(500).map((row) => store.append(lease, [row])));
      const names = (await readAll(store, id)).slice(2).map(({ name }) => name);
      expect(names).toEqual(steps(500).map(({ name }) => name));
    });

    test("work that waits for room to write begins in the order of asking", async () => {
      const { store } = await openFor(open);
      const { lease } = await createAndClaim(store);
      const begun: number[] = [];
      const written: Promise<unknown>[] = [];
      const write = (count: number) => written.push(...steps(count).map((row) => store.append(lease, [row])));
      for (let number = 0; number < 100; number += 1) {
        const begin = () => {
          begun.push(number);
          write(10);
        };
        const room = store.waitForRoom();
        if (room === undefined) begin();
        else void room.then(begin);
        // Others write meanwhile without asking.
        write(number % 3);
      }
      while (begun.length < 100) await new Promise(setImmediate);
      await Promise.all(written);
      expect(begun).toEqual(Array.from({ length: 100 }, (_, number) => number));
      expect(store.waitForRoom()).toBeUndefined();
    });

    test("all entries of an append are recorded or none, and others of the same moment are", async () => {
      const { store } = await openFor(open);
      const [broken, sound] = [await createAndClaim(store), await createAndClaim(store)];
      const refused: Entry = { kind: "session.status", status: "no such status" as "completed" };
      const [bad, good, after] = await Promise.all([
        refusalOf(store.append(broken.lease, [step(1), refused, step(2)])),
        store.append(sound.lease, [step(3)]),
        store.append(broken.lease, [step(4)]),
      ]);
      expect(bad).toBeDefined();
      expect((await readAll(store, sound.id)).slice(2)).toEqual(good);
      expect((await readAll(store, broken.id)).slice(2)).toEqual(after);
      expect(after[0]?.seq).toBe(3);
    });

    test.each([10, 999, 1_000, 1_001, 1_990, 2_500, 5_003])(
      "a history of %i steps is read whole, once and in order, with another session's rows between",
      async (count) => {
        const { store } = await openFor(open);
        const [one, other] = [await createAndClaim(store), await createAndClaim(store)];
        const chunk = 250;
        for (let from = 1; from <= count; from += chunk) {
          const rows = steps(Math.min(chunk, count - from + 1), from);
          await Promise.all([store.append(one.lease, rows), store.append(other.lease, [step(from)])]);
        }
        const rows = await readAll(store, one.id);
        expect(rows.map(({ seq }) => seq)).toEqual(
          Array.from({ length: count + 2 }, (_, index) => index + 1),
        );
        expect(rows.slice(2).map(({ name }) => name)).toEqual(steps(count).map(({ name }) => name));
        expectChain(one.id, rows);
        expectChain(other.id, await readAll(store, other.id));
      },
    );

    test("reading can begin behind any row", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      await store.append(lease, steps(2_600));
      const rows = await readAll(store, id);
      for (const afterSeq of [0, 1, 2, 999, 1_000, 1_001, 2_000, 2_400, 2_601, 2_602, 9_999]) {
        expect(await readAll(store, id, afterSeq)).toEqual(rows.slice(afterSeq));
      }
    });

    test("pages are bounded, so a long history does not have to fit into memory", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      await store.append(lease, steps(2_600));
      const sizes: number[] = [];
      for await (const page of store.readJournal(id)) sizes.push(page.length);
      expect(sizes.length).toBeGreaterThan(1);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000);
    });

    test("a row's body is found again by its session and seq", async () => {
      const { store } = await openFor(open);
      const [one, other] = [await createAndClaim(store), await createAndClaim(store)];
      const [first, second, third] = await Promise.all([
        store.append(one.lease, steps(1_200)),
        store.append(other.lease, steps(1_200, 5_000)),
        store.append(one.lease, steps(3, 9_000)),
      ]);
      for (const { seq, body } of [...first, ...third]) expect(await store.readBody(one.id, seq)).toBe(body);
      for (const { seq, body } of second) expect(await store.readBody(other.id, seq)).toBe(body);
      expect(await refusalOf(store.readBody(one.id, 1_000_000))).toBe("JournalCorrupt");
    });

    test.for([
      ["a few rows", 10],
      ["thousands of rows", 2_600],
    ] as const)(
      "a body that was changed is refused among %s, and the others are given",
      async ([, count], context) => {
        const { store, changeBody } = await openFor(open);
        const { id, lease } = await createAndClaim(store);
        const rows = await store.append(lease, steps(count));
        const [first = 0, second = 0, last = 0] = [rows[0], rows[1], rows.at(-1)].map((row) => row?.seq);
        if (changeBody === undefined) return context.skip("no other process can reach this store");
        for (const seq of [first, last]) await changeBody(id, seq, `{"result":"forged"}`);
        for (const seq of [first, last])
          expect(await refusalOf(store.readBody(id, seq))).toBe("JournalCorrupt");
        expect(await store.readBody(id, second)).toBe(rows[1]?.body);
      },
    );

    test("a row's body is found behind a gap in the seqs", async () => {
      const { store } = await openFor(open);
      const copied = [5, 20].map((seq) => ({
        ...encodeEntry({ kind: "phase.started", phase: `phase ${seq}` }),
        seq,
        epoch: 0,
        at: 1_000,
      }));
      const { session } = await store.createSession({ ...newSession(), copied });
      for (const { seq, body } of copied) expect(await store.readBody(session.id, seq)).toBe(body);
      expect(await store.readBody(session.id, 1)).toContain("brief");
      expect(await refusalOf(store.readBody(session.id, 6))).toBe("JournalCorrupt");
    });

    test("a large body survives", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      const body = JSON.stringify({ result: "é".repeat(1_000_000) });
      const [row] = await store.append(lease, [step(1, { body })]);
      expect((await readAll(store, id)).at(-1)).toEqual(row);
    });

    test("a journal continues behind its last row after the store is opened again", async (context) => {
      const { store, reopen } = await openFor(open);
      if (reopen === undefined) return context.skip("nothing outlives this store");
      const { id, lease } = await createAndClaim(store);
      await store.append(lease, steps(2_100));
      await store.append(lease, steps(50, 2_101));
      await store.releaseSession(lease);
      const before = await readAll(store, id);
      const later = await reopen();
      expect(await readAll(later, id)).toEqual(before);
      const claim = await later.claimSession(id, "start");
      await later.append(claim.lease, [step(9_999)]);
      const rows = await readAll(later, id);
      expect(rows.slice(0, before.length)).toEqual(before);
      expectChain(id, rows);
    });

    test("an append after the release of its lease is refused and writes nothing", async () => {
      const { store } = await openFor(open);
      const { id, lease } = await createAndClaim(store);
      await store.releaseSession(lease);
      await expect(store.append(lease, [step(1)])).rejects.toThrow(LeaseLost);
      expect(await readAll(store, id)).toHaveLength(2);
    });
  });
}

/** Recomputed here from scratch: the chain that the store says it kept. */
function expectChain(id: string, rows: readonly RecordedRow[]): void {
  let previous = chainStart(id);
  for (const row of rows) {
    previous = chainHash(previous, row);
    if (previous !== row.hash) throw new Error(`the chain of ${id} breaks at row ${row.seq}`);
  }
  expect(rows.at(-1)?.hash).toBe(previous);
}
