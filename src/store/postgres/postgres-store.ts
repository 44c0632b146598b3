import type { Clock } from "../../domain/clock.ts";
import { SessionConflict } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { ReservationId } from "../../domain/ledger.ts";
import type { ClaimCause, Entry, RecordedRow, Signal } from "../../journal/journal.ts";
import { encodeEntry, receivedRow, WrittenRow } from "../../journal/journal-codec.ts";
import { provesLife } from "../../journal/reduce.ts";
import { finalStatuses, type SessionStatus } from "../../journal/standing.ts";
import type { Access } from "../access.ts";
import type { Blobs } from "../blobs.ts";
import type { BreakerStore } from "../breaker-store.ts";
import type { Command, Placed, Reply, Success } from "../command.ts";
import { createCommand } from "../create-command.ts";
import { asJudged, beatMs } from "../decisions/lease.ts";
import type { SessionLimits } from "../decisions/limits.ts";
import { causeOf } from "../decisions/take.ts";
import type {
  Claim,
  Consider,
  Effects,
  Lease,
  NewSession,
  ReservationAnswer,
  ReservationRequest,
} from "../journal.ts";
import { heldBy, lostTo, notFound } from "../lease-errors.ts";
import { LeaseJudge } from "../lease-judge.ts";
import { type Owner, thisOwner, uptimeMs } from "../owner.ts";
import type { Reports } from "../reports.ts";
import type { SessionRecord } from "../session-record.ts";
import { sqlAccess } from "../sql/access.ts";
import { SqlBreakers } from "../sql/breakers.ts";
import { type LedgerVerb, Reservations } from "../sql/reservations.ts";
import { SqlTickets } from "../sql/tickets.ts";
import type { Maintenance, Store } from "../store.ts";
import { type ClaimGuard, Taker } from "../taker.ts";
import type { TicketStore } from "../ticket-store.ts";
import type { Wakeups } from "../wakeups.ts";
import { type Address, readAddress } from "./address.ts";
import { Liveness } from "./liveness.ts";
import { ensureSchema } from "./migrate.ts";
import { PostgresBlobs } from "./postgres-blobs.ts";
import { PostgresMaintenance } from "./postgres-maintenance.ts";
import { PostgresQueries } from "./postgres-queries.ts";
import { PostgresReader } from "./postgres-reader.ts";
import { PostgresReports } from "./postgres-reports.ts";
import { PostgresWriter } from "./postgres-writer.ts";
import { Server } from "./server.ts";
import { Transactions } from "./transactions.ts";

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly address: string;
  readonly clock: Clock;
  /** How long a silent driver keeps its lease. */
  readonly leaseMs: number;
}

const deleteSliceRows = 1_000;
/** Often enough that a process whose connection ended is noticed within seconds. */
const mostBetweenBeatsMs = 500;

/** Everything durable in a PostgreSQL database, shared by processes on any number of hosts. */
export class PostgresStore implements Store {
  readonly reports: Reports;
  readonly breakers: BreakerStore;
  readonly tickets: TicketStore;
  readonly access: Access;
  readonly wakeups: Wakeups;
  readonly maintenance: Maintenance;
  readonly blobs: Blobs;
  readonly #clock: Clock;
  readonly #owner: Owner = thisOwner();
  readonly #queries: PostgresQueries;
  readonly #reader: PostgresReader;
  readonly #writer: PostgresWriter;
  readonly #liveness: Liveness;
  readonly #leases: LeaseJudge;
  readonly #taker: Taker;
  readonly #reservations: Reservations;
  /** Numbers of the sessions that were claimed here. */
  readonly #numbers = new Map<SessionId, number>();

  /** Connects, and creates the tables of a new database. */
  static async open({ address, ...options }: PostgresStoreOptions): Promise<PostgresStore> {
    const read = readAddress(address);
    const server = new Server(read);
    await ensureSchema(server, read.schema);
    return new PostgresStore(server, read, options);
  }

  private constructor(
    server: Server,
    { schema }: Address,
    { clock, leaseMs }: Omit<PostgresStoreOptions, "address">,
  ) {
    const owner = this.#owner;
    this.#clock = clock;
    this.#queries = new PostgresQueries(server);
    this.#reader = new PostgresReader(this.#queries);
    this.#writer = new PostgresWriter(new Transactions(server, owner.id), server.place);
    this.#liveness = new Liveness(server, {
      owner,
      schema,
      beatMs: Math.min(beatMs(leaseMs), mostBetweenBeatsMs),
      now: () => clock.now(),
    });
    this.wakeups = this.#liveness;
    const submit = (command: Command) => this.#submit(command);
    const pass = () => submit({ verb: "pass" });
    const interruptions = () => server.losses;
    this.#leases = new LeaseJudge({ observer: owner, clock, leaseMs, pass, interruptions });
    this.breakers = new SqlBreakers(this.#queries, submit, clock);
    this.tickets = new SqlTickets(this.#queries, submit, clock);
    this.access = sqlAccess(this.#queries, submit);
    this.maintenance = new PostgresMaintenance(submit);
    this.blobs = new PostgresBlobs(this.#queries, server);
    const [queries, reader, leases] = [this.#queries, this.#reader, this.#leases];
    this.reports = new PostgresReports({ queries, reader, leases, clock, owner: owner.id });
    this.#reservations = new Reservations({
      queries,
      submit,
      now: () => clock.now(),
      prove: (lease, command) => this.#prove(lease, command),
      isDriven: async (session) => leases.stateOf((await reader.lease(session)).holder) === "held",
    });
    this.#taker = new Taker({
      load: reader,
      leases,
      clock,
      claim: (candidate, guard) => {
        const { id, status } = candidate.session;
        return this.#claim(id, (found) => causeOf(candidate, found), { ...guard, expectedStatus: status });
      },
      block: async ({ id, status }, why) =>
        submit({
          verb: "block",
          session: await reader.number(id),
          expectedStatus: status,
          blocked: JSON.stringify(why),
        }),
      tell: () => this.wakeups.tell("due"),
    });
  }

  async createSession(newSession: NewSession) {
    const { id, key } = newSession;
    const command = createCommand(newSession, this.#clock.now());
    const reply = await this.#submit(command);
    if (reply.kind === "placed") {
      const session = await this.#reader.session(id);
      if (session === undefined) throw notFound(id);
      return { session, row: new WrittenRow(command.row, reply.rows[0] as Placed, 0) };
    }
    const existing = await (key === undefined ? this.#reader.session(id) : this.#reader.sessionWithKey(key));
    if (existing === undefined) throw new SessionConflict(`A session with the id ${id} exists already.`);
    return { session: existing, row: undefined };
  }

  findSession(idOrKey: string): Promise<SessionRecord | undefined> {
    return this.#reader.session(idOrKey);
  }

  async deleteSession(id: SessionId, { onlyFinished = false } = {}): Promise<void> {
    const session = await this.#reader.number(id);
    for (;;) {
      const status = (await this.#reader.session(id))?.status;
      if (onlyFinished && status !== undefined && !finalStatuses.includes(status))
        throw new SessionConflict(`Session ${id} is not finished: it is ${status}.`);
      const judged = await this.#leases.judge(() => this.#reader.lease(session));
      if (judged.state === "held") throw heldBy(id, judged.holder);
      const reply = await this.#submit({
        verb: "delete",
        session,
        judged: asJudged(judged),
        onlyFinished,
        rows: deleteSliceRows,
        at: this.#clock.now(),
      });
      if (reply.kind === "deleted" && !reply.more) return;
    }
  }

  claimSession(id: SessionId, cause: ClaimCause | ((found: Claim["found"]) => ClaimCause)): Promise<Claim> {
    return this.#claim(id, cause, { expectedStatus: null, limits: [], deadOwners: [] });
  }

  async #claim(
    id: SessionId,
    cause: ClaimCause | ((found: Claim["found"]) => ClaimCause),
    guard: ClaimGuard & { readonly expectedStatus: SessionStatus | null },
  ): Promise<Claim> {
    const session = await this.#reader.number(id);
    const judged = await this.#leases.judge(() => this.#reader.lease(session));
    const { holder, state: found } = judged;
    if (found === "held") throw heldBy(id, holder);
    // Before the claim: other processes take a lease whose holder has no connection.
    await this.#liveness.live();
    const at = this.#clock.now();
    const why = typeof cause === "function" ? cause(found) : cause;
    const row = encodeEntry({ kind: "session.claimed", cause: why, owner: this.#owner.id });
    const reply = await this.#submit({
      verb: "claim",
      session,
      judged: asJudged(judged),
      claimant: { ...this.#owner, beatUptimeMs: uptimeMs(), beatAt: at },
      at,
      row,
      cause: why,
      ...guard,
    });
    if (reply.kind !== "placed") throw heldBy(id, (await this.#reader.lease(session)).holder);
    this.#numbers.set(id, session);
    const lease = { sessionId: id, epoch: reply.epoch };
    const received = (reply.received ?? []).map((signal) => receivedRow(signal, reply.epoch));
    return { lease, found, received, row: new WrittenRow(row, reply.rows[0] as Placed, reply.epoch) };
  }

  take(places: number, consider: Consider, limits: SessionLimits = {}): Promise<number> {
    return this.#taker.take(places, consider, limits);
  }

  async releaseSession(lease: Lease): Promise<void> {
    this.#taker.proved(lease.sessionId);
    await this.#submit({ verb: "release", ...this.#proofOf(lease) });
    this.wakeups.tell("due");
  }

  async append(
    lease: Lease,
    entries: readonly Entry[],
    effects: Effects = {},
  ): Promise<readonly RecordedRow[]> {
    const rows = entries.map(encodeEntry);
    const reply = await this.#submit({ verb: "append", ...this.#proofOf(lease), rows, effects });
    if (reply.kind !== "placed") throw lostTo(lease, reply);
    if (this.#taker.onProbation.size > 0 && rows.some(provesLife)) this.#taker.proved(lease.sessionId);
    for (const alert of reply.alerts ?? []) rows.push(encodeEntry({ kind: "budget.alerted", alert }));
    return rows.map((row, index) => new WrittenRow(row, reply.rows[index] as Placed, lease.epoch));
  }

  reserve(lease: Lease, request: ReservationRequest): Promise<ReservationAnswer> {
    return this.#reservations.reserve(lease, request);
  }

  async withdraw(lease: Lease, reservation: ReservationId): Promise<void> {
    await this.#prove(lease, { verb: "release-reservation", reservation });
  }

  waitForRoom(): Promise<void> | undefined {
    return this.#writer.waitForRoom();
  }

  async *readJournal(id: SessionId, afterSeq = 0, limit = Number.POSITIVE_INFINITY) {
    yield* this.#reader.rows(id, await this.#reader.number(id), afterSeq, limit);
  }

  async *readTransitions(id: SessionId, afterSeq = 0) {
    yield* this.#reader.transitions(id, await this.#reader.number(id), afterSeq);
  }

  async readBody(id: SessionId, seq: number): Promise<string> {
    return this.#reader.body(id, this.#numbers.get(id) ?? (await this.#reader.number(id)), seq);
  }

  async signal(id: SessionId, message: Signal): Promise<void> {
    const session = await this.#reader.number(id);
    await this.#submit({ verb: "signal", session, at: this.#clock.now(), body: JSON.stringify(message) });
    this.wakeups.tell("signal");
  }

  async receive(lease: Lease): Promise<readonly RecordedRow[]> {
    const { epoch } = lease;
    const reply = await this.#submit({ verb: "receive", ...this.#proofOf(lease) });
    if (reply.kind !== "received") throw lostTo(lease, reply);
    return reply.rows.map((signal) => receivedRow(signal, epoch));
  }

  async close(lastWork?: Promise<unknown>): Promise<void> {
    this.#leases.endWatches();
    try {
      if (lastWork !== undefined) await lastWork;
    } finally {
      await this.#writer.close();
      await Promise.all([this.#liveness.close(), this.#queries.close()]);
    }
  }

  #submit(command: Command): Promise<Success> {
    return this.#writer.submit(command).then(succeeded);
  }

  async #prove(lease: Lease, command: LedgerVerb): Promise<Success> {
    const reply = await this.#submit({ ...this.#proofOf(lease), ...command });
    if (reply.kind === "refused") throw lostTo(lease, reply);
    return reply;
  }

  #proofOf({ sessionId, epoch }: Lease) {
    // A lease is of a claim that was made here. The number of any other session proves nothing.
    const session = this.#numbers.get(sessionId) ?? 0;
    return { session, epoch, owner: this.#owner.id, at: this.#clock.now() };
  }
}

/** The writer throws what fails, so every reply is a success. */
const succeeded = (reply: Reply): Success => reply as Success;
