import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/domain/clock.ts";
import { startPosition } from "../../src/domain/cursor.ts";
import { LeaseLost } from "../../src/domain/errors.ts";
import { chainHash, chainStart } from "../../src/journal/journal-codec.ts";
import { readAddress } from "../../src/store/postgres/address.ts";
import { PostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { Server } from "../../src/store/postgres/server.ts";
import { newSchema, postgres } from "../support/postgres.ts";
import { expectTotalsAddUp, granted, request, settle, took } from "./ledger-support.ts";
import { startOnPostgres } from "./postgres-child.ts";
import { createAndClaim, newSession, readAll, step, steps } from "./store-under-test.ts";

const leaseMs = 3_000;

async function openOn(address: string): Promise<PostgresStore> {
  const store = await PostgresStore.open({ address, clock: systemClock, leaseMs });
  onTestFinished(() => store.close());
  return store;
}

describe.skipIf(postgres === null)("a store on PostgreSQL under faults", () => {
  test("survives the end of each of its connections, again and again, and no step is lost or doubled", async () => {
    const { schema, address, query } = newSchema();
    const store = await openOn(address);
    const sessions = await Promise.all(Array.from({ length: 8 }, () => createAndClaim(store)));
    const over = new AbortController();
    const killing = (async () => {
      let killed = 0;
      while (!over.signal.aborted) {
        const rows = await query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE application_name = 'maestro' AND pid IN (SELECT pid FROM pg_locks WHERE relation IN
             (SELECT oid FROM pg_class WHERE relnamespace = '"${schema}"'::regnamespace)) LIMIT 1`,
        );
        killed += rows.length;
      }
      return killed;
    })();
    const written = await Promise.all(
      sessions.map(async ({ lease }) => {
        const hashes: string[] = [];
        for (let number = 1; number <= 40; number += 1) {
          const reservation = await granted(store, lease);
          await settle(store, lease, reservation, took(10));
          for (const { hash } of await store.append(lease, [step(number)])) hashes.push(hash);
        }
        return hashes;
      }),
    );
    over.abort();
    expect(await killing).toBeGreaterThan(3);
    for (const [at, { id }] of sessions.entries()) {
      const rows = await readAll(store, id);
      expectChain(id, rows);
      const functions = rows.filter(({ name }) => name?.startsWith("step ") === true);
      expect(functions.map(({ hash }) => hash)).toEqual(expect.arrayContaining(written[at] as string[]));
      expect(new Set(rows.map(({ seq }) => seq)).size).toBe(rows.length);
    }
    await expectTotalsAddUp(
      store,
      sessions.map(({ id }) => id),
    );
  });

  test.each([
    ["before the server receives the commit", "request"],
    ["after the commit, before its answer", "answer"],
  ] as const)("a connection that is cut %s costs no row and doubles none", async (_, side) => {
    const { address } = newSchema();
    const proxy = await startProxy(Number(new URL(address).port));
    const store = await openOn(address.replace(/:\d+\//, `:${proxy.port}/`));
    const { id, lease } = await createAndClaim(store);
    await store.append(lease, [step(0)]);
    for (let number = 1; number <= 6; number += 1) {
      proxy.cutAtCommit(side);
      const [row] = await store.append(lease, [step(number)]);
      expect(row?.name).toBe(`step ${number}`);
    }
    proxy.cutAtCommit(side);
    const reservation = await granted(store, lease);
    proxy.cutAtCommit(side);
    await settle(store, lease, reservation, took(10));
    expect(proxy.cuts()).toBe(8);
    const rows = await readAll(store, id);
    expectChain(id, rows);
    const names = rows.slice(2, 9).map(({ name }) => name);
    expect(names).toEqual([0, 1, 2, 3, 4, 5, 6].map((number) => `step ${number}`));
    expect(await store.reports.calls(id)).toHaveLength(1);
    await expectTotalsAddUp(store, [id]);
  });

  test("what an earlier connection sent is refused when it arrives after a new connection was made", async () => {
    const { address, query } = newSchema();
    const store = await openOn(address);
    const { id, lease } = await createAndClaim(store);
    await store.append(lease, [step(1)]);
    // As a connection does that was cut and is made again, while the server has not read all of the first one.
    await query("UPDATE writers SET term = term + 1");
    const [row] = await store.append(lease, [step(2)]);
    expect(row?.seq).toBe(4);
    expect(await query("SELECT term FROM writers")).toEqual([{ term: "3" }]);
    expectChain(id, await readAll(store, id));
  });

  test("a lease that another process took refuses every write of the one before, in every way of writing", async () => {
    const { address, query } = newSchema();
    const store = await openOn(address);
    const [taken, kept] = [await createAndClaim(store), await createAndClaim(store)];
    await store.append(taken.lease, [step(1)]);
    await query(
      "UPDATE leases SET epoch = epoch + 1, owner = 'another' WHERE session = (SELECT number FROM sessions WHERE id = $1)",
      [taken.id],
    );
    const results = await Promise.allSettled([
      store.append(taken.lease, [step(2)]),
      store.append(taken.lease, [{ kind: "session.status", status: "completed" }]),
      store.append(taken.lease, [step(3)], { artifacts: ["a".repeat(64)] }),
      store.reserve(taken.lease, request()),
      store.receive(taken.lease),
      store.append(kept.lease, [step(4)]),
    ]);
    for (const result of results.slice(0, 5))
      expect(result).toMatchObject({ status: "rejected", reason: expect.any(LeaseLost) });
    expect(results[0]).toMatchObject({ reason: { details: { epoch: 1, currentEpoch: 2 } } });
    expect(results[5]?.status).toBe("fulfilled");
    expect(await readAll(store, taken.id)).toHaveLength(3);
    expect(await store.reports.calls(taken.id)).toEqual([]);
    expect((await store.findSession(taken.id))?.status).toBe("running");
  });

  test("an end of the journal that is not the known one is read again, and the next row follows it", async () => {
    const { address, query } = newSchema();
    const store = await openOn(address);
    const { id, lease } = await createAndClaim(store);
    await store.append(lease, [step(1)]);
    await query("UPDATE leases SET seq = seq + 1");
    expect(await store.append(lease, [step(2)])).toMatchObject([{ seq: 5 }]);
    const rows = await readAll(store, id);
    expectChain(id, rows);
    expect(rows.map(({ seq }) => seq)).toEqual([1, 2, 3, 5]);
  });

  test("a process that is stopped beyond its lease loses its session, and its late steps are refused", async () => {
    const { address } = newSchema();
    const store = await openOn(address);
    const { session } = await store.createSession(newSession());
    // As if on another machine: nothing but its silence shows that it is stopped.
    const child = startOnPostgres("write-for-ever", address, session.id, String(leaseMs));
    onTestFinished(() => void child.process.kill("SIGKILL"));
    await expect.poll(async () => (await readAll(store, session.id)).length).toBeGreaterThan(10);
    await expect(store.claimSession(session.id, "recovery")).rejects.toThrow("is being driven");
    child.process.kill("SIGSTOP");
    const claimed = await claimWhenPossible(store, session.id);
    await store.append(claimed, steps(3));
    child.process.kill("SIGCONT");
    expect(await child.output()).toContain("LeaseLost");
    const rows = await readAll(store, session.id);
    expectChain(session.id, rows);
    const lastOfFirst = rows.findLastIndex(({ epoch }) => epoch === 1);
    expect(rows.slice(0, lastOfFirst).every(({ epoch }) => epoch <= 1)).toBe(true);
    expect(rows.at(-1)?.epoch).toBe(2);
  });

  test("a killed process on another machine is noticed within seconds, long before its lease is over", async () => {
    const { address } = newSchema();
    const store = await PostgresStore.open({ address, clock: systemClock, leaseMs: 200_000 });
    onTestFinished(() => store.close());
    const { session } = await store.createSession(newSession());
    const child = startOnPostgres("write-for-ever", address, session.id, "200000");
    await expect.poll(async () => (await readAll(store, session.id)).length).toBeGreaterThan(10);
    child.process.kill("SIGKILL");
    await child.output();
    const startedAt = performance.now();
    await claimWhenPossible(store, session.id);
    expect(performance.now() - startedAt).toBeLessThan(100_000);
  });

  test("a process that lost only the connection that shows its life keeps its lease", async () => {
    const { address, query } = newSchema();
    const [driver, observer] = [await openOn(address), await openOn(address)];
    const { session } = await driver.createSession(newSession());
    const child = startOnPostgres("write-for-ever", address, session.id, "200000");
    onTestFinished(() => void child.process.kill("SIGKILL"));
    await expect.poll(async () => (await readAll(driver, session.id)).length).toBeGreaterThan(10);
    const living = `SELECT k.pid FROM pg_locks k JOIN leases l ON k.objid = (hashtext(l.owner)::bigint & 4294967295)::oid
      WHERE k.locktype = 'advisory' AND k.classid = 4160`;
    for (let time = 0; time < 3; time += 1) {
      const [before] = await query(living);
      await query("SELECT pg_terminate_backend($1)", [before?.["pid"]]);
      // The claim watches the holder, whose lock is free, and sees it beat again.
      await expect(observer.claimSession(session.id, "recovery")).rejects.toThrow("is being driven");
      await expect.poll(() => query(living)).not.toEqual([]);
      expect(await query(living)).not.toEqual([before]);
    }
    child.process.kill("SIGKILL");
    expect(await child.output()).toBe("");
    expect((await readAll(driver, session.id)).at(-1)?.epoch).toBe(1);
  });

  test("a process shows its life again although the server still keeps its old connection", async () => {
    const { address, query } = newSchema();
    await createAndClaim(await openOn(address));
    const [lease] = await query("SELECT owner FROM leases");
    const owner = lease?.["owner"];
    const living = `SELECT pid, granted FROM pg_locks WHERE locktype = 'advisory' AND classid = 4160
      AND objid = (hashtext($1)::bigint & 4294967295)::oid ORDER BY granted DESC`;
    // It gets the lock when the connection of the process ends, as an old connection that the server keeps has it.
    const kept = query("SELECT pg_advisory_lock(4160, hashtext($1)), pg_sleep(600)", [owner]).then(
      () => "",
      (error: Error) => error.message,
    );
    await expect.poll(() => query(living, [owner])).toHaveLength(2);
    const [first] = await query(living, [owner]);
    await query("SELECT pg_terminate_backend($1)", [first?.["pid"]]);
    expect(await kept).toContain("terminating connection");
    await expect.poll(() => query(living, [owner])).toMatchObject([{ granted: true }]);
    const beats = async () =>
      Number((await query("SELECT beats FROM owners WHERE id = $1", [owner]))[0]?.["beats"]);
    const before = await beats();
    await expect.poll(beats).toBeGreaterThan(before);
  });

  test("a process that is stopped within a transaction does not hold up the others for ever", async () => {
    const { address } = newSchema();
    const store = await openOn(address);
    const { lease } = await createAndClaim(store);
    // As a stopped process leaves it: the server waits for its next statement, and others for its rows.
    const stopped = await new Server(readAddress(address)).connect();
    onTestFinished(() => stopped.end());
    await stopped.query("BEGIN");
    await stopped.query("SELECT 1 FROM leases FOR UPDATE");
    await store.append(lease, steps(1));
    await expect(stopped.query("COMMIT")).rejects.toThrow(/terminat|closed|queryable/i);
  });

  test("a wakeup reaches the other processes that listen", async () => {
    const { address } = newSchema();
    const [one, other] = [await openOn(address), await openOn(address)];
    const heard: string[] = [];
    other.wakeups.hear("signal", () => heard.push("signal"));
    other.wakeups.hear("due", () => heard.push("due"));
    const { id, lease } = await createAndClaim(one);
    // A wakeup that comes before the other listens is lost, and the next one is not.
    await expect
      .poll(async () => {
        await one.signal(id, { action: "pause" });
        return heard.includes("signal");
      })
      .toBe(true);
    await one.releaseSession(lease);
    await expect.poll(() => heard.includes("due")).toBe(true);
  });

  test("followers miss no row of several processes that commit at the same time", async () => {
    const { address } = newSchema();
    const stores = await Promise.all(Array.from({ length: 4 }, () => openOn(address)));
    const writers = await Promise.all(
      stores.map(async (store) => ({ store, ...(await createAndClaim(store)) })),
    );
    const [{ store }] = writers as [(typeof writers)[number]];
    const written: string[] = [];
    const writing = Promise.all(
      writers.map(async ({ store, lease }) => {
        for (let number = 0; number < 60; number += 1)
          await store.append(lease, steps(1 + (number % 5), number * 5));
      }),
    ).then(async () => {
      for (const { id } of writers)
        for (const { seq } of await readAll(store, id)) written.push(`${id} ${seq}`);
    });
    const seen: string[] = [];
    let position = startPosition;
    // A follower is behind while any transaction of the server is under way, so it follows until it has them all.
    while (written.length === 0 || seen.length < written.length) {
      const changes = await store.reports.changes(position, 50);
      for (const change of changes) seen.push(`${change.id} ${change.seq}`);
      position = changes.at(-1)?.position ?? position;
    }
    await writing;
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.toSorted()).toEqual(written.toSorted());
  });
});

async function claimWhenPossible(store: PostgresStore, id: Parameters<PostgresStore["claimSession"]>[0]) {
  for (;;) {
    const claim = await store.claimSession(id, "recovery").catch(() => undefined);
    if (claim !== undefined) return claim.lease;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function expectChain(
  id: string,
  rows: readonly Parameters<typeof chainHash>[1][] & readonly { hash: string }[],
) {
  let previous = chainStart(id);
  for (const row of rows) {
    previous = chainHash(previous, row);
    expect(row.hash).toBe(previous);
  }
}

/** Stands between the store and the server, and cuts a connection around a COMMIT. */
async function startProxy(target: number) {
  let armed: "request" | "answer" | undefined;
  let cuts = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    let isCutting = false;
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", end).on("close", end);
    }
    client.on("data", (bytes: Buffer) => {
      // COMMIT is parsed once for a connection and bound by its name afterwards; BEGIN comes with each transaction.
      const isCommit =
        bytes.includes("COMMIT\0") || commitNames.some((name) => bytes.includes(`\0${name}\0`));
      for (const [, name = ""] of bytes.toString("latin1").matchAll(/P....(m\d+)\0COMMIT\0/gs))
        if (!commitNames.includes(name)) commitNames.push(name);
      if (armed === undefined || !isCommit) return void upstream.write(bytes);
      cuts += 1;
      if (armed === "request") {
        armed = undefined;
        return end();
      }
      armed = undefined;
      isCutting = true;
      upstream.write(bytes);
    });
    upstream.on("data", (bytes: Buffer) => {
      if (!isCutting) return void client.write(bytes);
      // The answer of the commit is on its way, and never arrives.
      if (bytes.includes("COMMIT\0")) end();
    });
  });
  const commitNames: string[] = [];
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as { port: number }).port,
    cuts: () => cuts,
    cutAtCommit: (side: "request" | "answer") => {
      armed = side;
    },
  };
}
