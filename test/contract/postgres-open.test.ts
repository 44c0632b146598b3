import { once } from "node:events";
import { connect, createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/domain/clock.ts";
import { InputInvalid, type MaestroError, StateTooNew, StateUnavailable } from "../../src/domain/errors.ts";
import { readAddress } from "../../src/store/postgres/address.ts";
import { PostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { newSchema, postgres } from "../support/postgres.ts";
import { newestFirst, newSession } from "./store-under-test.ts";

const open = (address: string) => PostgresStore.open({ address, clock: systemClock, leaseMs: 15_000 });

async function refusalOf(address: string): Promise<MaestroError> {
  const outcome = await open(address).then(
    async (store) => store.close(),
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(Error);
  return outcome as MaestroError;
}

describe("the address of a store", () => {
  test("names hosts, user, password, database, schema and TLS", () => {
    expect(readAddress("postgres://me:p%40ss@one,two:5433/work?schema=mine&sslmode=require")).toEqual({
      hosts: [
        { host: "one", port: 5432 },
        { host: "two", port: 5433 },
      ],
      user: "me",
      password: "p@ss",
      database: "work",
      schema: "mine",
      tls: "unverified",
      rootCertificate: undefined,
    });
    expect(readAddress("postgresql://localhost")).toMatchObject({ database: "maestro", tls: "off" });
    expect(readAddress("postgres:///work?host=/run/postgresql")).toMatchObject({
      hosts: [{ host: "/run/postgresql", port: 5432 }],
    });
  });

  test("asks for verified TLS unless every host is this machine or the address says otherwise", () => {
    expect(readAddress("postgres://db.example/work").tls).toBe("verified");
    expect(readAddress("postgres://127.0.0.1,db.example/work").tls).toBe("verified");
    expect(readAddress("postgres://db.example/work?sslmode=disable").tls).toBe("off");
  });

  test.each([
    "postgres:/one/work",
    "postgres://me:secret@one:0/work",
    "postgres://me:secret@one:99999/work",
    "postgres://me:secret@one:x/work",
    "postgres://me:secret@one/work?schema=a;b",
    "postgres://me:secret@one/work?schema=pg%22",
    "postgres://me:secret@one/work?sslmode=maybe",
    "postgres://me:secret@one/work?scheme=x",
    "postgres://me:secret%@one/work",
    "postgres://me:secret@[::1/work",
  ])("%s is refused, and the error does not quote the password", (address) => {
    let refusal: unknown;
    try {
      readAddress(address);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(InputInvalid);
    expect((refusal as Error).message).not.toContain("secret");
  });
});

describe.skipIf(postgres === null)("opening a store on PostgreSQL", () => {
  const { host, port } = new URL(postgres?.address ?? "postgres://127.0.0.1:1");

  test("refuses an address where no server answers, and says which and why", async () => {
    const refusal = await refusalOf("postgres://127.0.0.1:1,127.0.0.1:2/work");
    expect(refusal).toBeInstanceOf(StateUnavailable);
    expect(refusal.message).toContain("127.0.0.1:1: connection refused; 127.0.0.1:2: connection refused");
  });

  test("uses the host that answers", async () => {
    const { address } = newSchema();
    const store = await open(address.replace("127.0.0.1:", "127.0.0.1:1,127.0.0.1:"));
    onTestFinished(() => store.close());
    const { session } = await store.createSession(newSession());
    expect(await store.findSession(session.id)).toEqual(session);
  });

  test("refuses a wrong password without repeating it", async () => {
    const { query } = newSchema();
    await query("DROP ROLE IF EXISTS locked");
    await query("CREATE ROLE locked LOGIN PASSWORD 'right'");
    const refusal = await refusalOf(`postgres://locked:wrong-one@${host}/postgres`);
    expect(refusal).toBeInstanceOf(StateUnavailable);
    expect(refusal.message).toContain('password authentication failed for user "locked"');
    expect(JSON.stringify(refusal)).not.toContain("wrong-one");
  });

  test("refuses a database that does not exist, and says how to create it", async () => {
    const refusal = await refusalOf(`postgres://postgres@${host}/no_such_database`);
    expect(refusal.message).toContain('database "no_such_database" does not exist');
    expect(refusal.advice).toContain("createdb");
  });

  test("refuses a user who may not create tables, and leaves nothing behind", async () => {
    const { schema, query } = newSchema();
    await query(`CREATE ROLE "${schema}" LOGIN`);
    const refusal = await refusalOf(`postgres://${schema}@${host}/postgres?schema=${schema}`);
    expect(refusal).toBeInstanceOf(StateUnavailable);
    expect(refusal.message).toContain("permission denied");
    expect(refusal.advice).toContain("GRANT CREATE");
    expect(await query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [schema])).toEqual([]);
  });

  test("refuses a server that would acknowledge a commit before it is on disk", async () => {
    const { schema, query } = newSchema();
    await query(`CREATE ROLE "${schema}" LOGIN SUPERUSER`);
    await query(`ALTER ROLE "${schema}" SET synchronous_commit = off`);
    const refusal = await refusalOf(`postgres://${schema}@${host}/postgres?schema=${schema}`);
    expect(refusal).toBeInstanceOf(StateUnavailable);
    expect(refusal.message).toContain("synchronous_commit = off");
  });

  test("refuses a pooler, whose process is not the one that answers", async () => {
    const { schema } = newSchema();
    const pooler = await startPooler(Number(port));
    const refusal = await refusalOf(`postgres://postgres@127.0.0.1:${pooler}/postgres?schema=${schema}`);
    expect(refusal).toBeInstanceOf(StateUnavailable);
    expect(refusal.message).toContain("pooler");
  });

  test("refuses a database of a later format and writes nothing", async () => {
    const { address, query } = newSchema();
    await (await open(address)).close();
    await query("INSERT INTO formats (format, version) VALUES (99, '9.9.9')");
    const before = await query("SELECT count(*) FROM writers");
    const refusal = await refusalOf(address);
    expect(refusal).toBeInstanceOf(StateTooNew);
    expect(refusal.message).toContain("format 99");
    expect(await query("SELECT count(*) FROM writers")).toEqual(before);
  });

  test("creates the tables once when several processes open an empty database together", async () => {
    const { address, query } = newSchema();
    const stores = await Promise.all(Array.from({ length: 5 }, () => open(address)));
    await Promise.all(stores.map((store) => store.createSession(newSession())));
    expect(await stores[0]?.reports.list(newestFirst)).toHaveLength(5);
    await Promise.all(stores.map((store) => store.close()));
    expect(await query("SELECT format FROM formats")).toEqual([{ format: 1 }]);
  });
});

/** Like a pooler, names another process in the greeting than the one that answers. */
async function startPooler(target: number): Promise<number> {
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    client.on("error", () => upstream.destroy()).pipe(upstream);
    upstream.on("error", () => client.destroy());
    upstream.on("data", (bytes: Buffer) => {
      const key = bytes.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]));
      if (key >= 0) bytes.writeInt32BE(1, key + 5);
      client.write(bytes);
    });
    upstream.on("end", () => client.end());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as { port: number }).port;
}
