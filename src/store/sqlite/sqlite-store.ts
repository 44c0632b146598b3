import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../domain/clock.ts";
import { SessionConflict } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { ReservationId } from "../../domain/ledger.ts";
import type { ClaimCause, Entry, RecordedRow, Signal } from "../../journal/journal.ts";
import { encodeEntry, receivedRow, WrittenRow } from "../../journal/journal-codec.ts";
import { provesLife } from "../../journal/reduce.ts";
import { finalStatuses, type SessionStatus } from "../../journal/standing.ts";
import type { Access } from "../access.ts";
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
import { LocalWakeups } from "../wakeups.ts";
import { DatabaseFiles } from "./database-files.ts";
import { JournalReader } from "./journal-reader.ts";
import { SqliteMaintenance } from "./maintenance.ts";
import { ensureSchema, openDatabase, openForLooking } from "./open-database.ts";
import { Queries } from "./queries.ts";
import { Reader } from "./reader.ts";
import { Removal } from "./removal.ts";
import { SqliteReports } from "./reports.ts";
import { notWritten, wasClosed } from "./sqlite-errors.ts";
import { Writer } from "./writer.ts";
import {
  AppendCommand,
  InlineWriter,
  measureCommit,
  ThreadWriter,
  type WriterClient,
} from "./writer-client.ts";

export interface SqliteStoreOptions {
  /** A file, or `:memory:`. */
  readonly path: string;
  readonly clock: Clock;
  /** How long a silent driver keeps its lease. */
  readonly leaseMs: number;
  /** The disk cannot be written: every write fails, and reads need none. */
  readonly onlyLooks?: boolean;
}

const deleteSliceRows = 1_000;

export class SqliteStore implements Store {
  readonly reports: Reports;
  readonly breakers: BreakerStore;
  readonly tickets: TicketStore;
  readonly access: Access;
  readonly wakeups = new LocalWakeups();
  readonly maintenance: Maintenance;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly #leases: LeaseJudge;
  readonly #taker: Taker;
  readonly #removal: Removal;
  readonly #owner: Owner = thisOwner();
  readonly #database: DatabaseSync;
  readonly #reader: Reader;
  readonly #journal: JournalReader;
  readonly #writer: WriterClient;
  readonly #reservations: Reservations;
  /** Numbers of the sessions that were claimed here. */
  readonly #numbers = new Map<SessionId, number>();
  #beating = false;
  #isClosed = false;

  constructor({ path, clock, leaseMs, onlyLooks = false }: SqliteStoreOptions) {
    this.#path = path;
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    this.#database = onlyLooks ? openForLooking(path) : openDatabase(path);
    if (!onlyLooks) ensureSchema(this.#database, path);
    const files = path === ":memory:" || onlyLooks ? undefined : new DatabaseFiles(path);
    const queries = new Queries(this.#database, path);
    this.#removal = new Removal(files, beatMs(leaseMs));
    this.#removal.hear((error) => queries.refuse(error));
    this.#reader = new Reader(queries);
    this.#journal = new JournalReader(this.#reader, path);
    const submit = (command: Command) => this.#submit(command);
    const pass = () => submit({ verb: "pass" });
    this.#leases = new LeaseJudge({ observer: this.#owner, clock, leaseMs, pass });
    this.breakers = new SqlBreakers(queries, submit, clock);
    this.tickets = new SqlTickets(queries, submit, clock);
    this.access = sqlAccess(queries, submit);
    this.maintenance = new SqliteMaintenance(this.#reader, submit, this.#removal, this.#leases, clock);
    this.reports = new SqliteReports({
      queries,
      reader: this.#reader,
      leases: this.#leases,
      clock,
      path,
      owner: this.#owner.id,
      number: (id) => this.#number(id),
    });
    this.#reservations = new Reservations({
      queries,
      submit,
      now: () => clock.now(),
      prove: (lease, command) => this.#prove(lease, command),
      isDriven: (session) => this.#leases.stateOf(this.#reader.lease(session).holder) === "held",
    });
    this.#taker = new Taker({
      load: this.#reader,
      leases: this.#leases,
      clock,
      claim: (candidate, guard) => {
        const { id, status } = candidate.session;
        return this.#claim(id, (found) => causeOf(candidate, found), { ...guard, expectedStatus: status });
      },
      block: ({ id, status }, why) =>
        submit({
          verb: "block",
          session: this.#number(id),
          expectedStatus: status,
          blocked: JSON.stringify(why),
        }),
      tell: () => this.wakeups.tell("due"),
    });
    if (path === ":memory:") this.#writer = new InlineWriter(new Writer(this.#database));
    else {
      this.#database.exec("PRAGMA query_only = 1");
      this.#writer = new ThreadWriter(path, files ?? new DatabaseFiles(path));
    }
  }

  async createSession(newSession: NewSession) {
    const { id, key } = newSession;
    const command = createCommand(newSession, this.#clock.now());
    const reply = await this.#submit(command);
    if (reply.kind === "placed") {
      return { session: this.#require(id), row: new WrittenRow(command.row, reply.rows[0] as Placed, 0) };
    }
    const existing = key === undefined ? this.#reader.session(id) : this.#reader.sessionWithKey(key);
    if (existing === undefined) throw new SessionConflict(`A session with the id ${id} exists already.`);
    return { session: existing, row: undefined };
  }

  async findSession(idOrKey: string): Promise<SessionRecord | undefined> {
    return this.#reader.session(idOrKey);
  }

  async deleteSession(id: SessionId, { onlyFinished = false } = {}): Promise<void> {
    const session = this.#number(id);
    for (;;) {
      const status = this.#reader.session(id)?.status;
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
    const session = this.#number(id);
    const judged = await this.#leases.judge(() => this.#reader.lease(session));
    const { holder, state: found } = judged;
    if (found === "held") throw heldBy(id, holder);
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
    if (reply.kind !== "placed") throw heldBy(id, this.#reader.lease(session).holder);
    this.#startBeating();
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

  /** Not async and without an extra promise, because thousands of steps may wait here at once. */
  append(lease: Lease, entries: readonly Entry[], effects: Effects = {}): Promise<readonly RecordedRow[]> {
    const rows = entries.map(encodeEntry);
    const session = this.#leased(lease);
    const append = new AppendCommand(session, lease.epoch, this.#owner.id, this.#clock.now(), rows, effects);
    return this.#send(append).then((sent) => {
      const reply = this.#succeeded(sent);
      if (reply.kind !== "placed") throw lostTo(lease, reply);
      if (this.#taker.onProbation.size > 0 && rows.some(provesLife)) this.#taker.proved(lease.sessionId);
      for (const alert of reply.alerts ?? []) rows.push(encodeEntry({ kind: "budget.alerted", alert }));
      return rows.map((row, index) => new WrittenRow(row, reply.rows[index] as Placed, lease.epoch));
    });
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
    yield* this.#journal.rows(id, this.#number(id), afterSeq, limit);
  }

  async *readTransitions(id: SessionId, afterSeq = 0) {
    yield* this.#journal.transitions(id, this.#number(id), afterSeq);
  }

  async readBody(id: SessionId, seq: number): Promise<string> {
    return this.#journal.body(id, this.#numbers.get(id) ?? this.#number(id), seq);
  }

  async signal(id: SessionId, message: Signal): Promise<void> {
    await this.#submit({
      verb: "signal",
      session: this.#number(id),
      at: this.#clock.now(),
      body: JSON.stringify(message),
    });
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
      await this.#close();
    }
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    this.#removal.end();
    await this.#writer.close();
    if (this.#database.isOpen) this.#database.close();
  }

  #submit(command: Command): Promise<Success> {
    return this.#send(command).then(this.#succeeded);
  }

  #send(command: Command): Promise<Reply> {
    // The writer would start another thread for it, which no later close would end.
    if (this.#isClosed) return Promise.reject(wasClosed(this.#path));
    return measureCommit(command.verb, this.#writer.submit(command));
  }

  readonly #succeeded = (reply: Reply): Success => {
    if (reply.kind !== "failed") return reply;
    const error = notWritten(reply.error, this.#path);
    this.#removal.notice(error);
    throw error;
  };

  async #prove(lease: Lease, command: LedgerVerb): Promise<Success> {
    const reply = await this.#submit({ ...this.#proofOf(lease), ...command });
    if (reply.kind === "refused") throw lostTo(lease, reply);
    return reply;
  }

  #proofOf(lease: Lease) {
    const { epoch } = lease;
    return { session: this.#leased(lease), epoch, owner: this.#owner.id, at: this.#clock.now() };
  }

  /** The number of a session that was claimed here. Numbers are never reused, so a stale one proves nothing. */
  #leased({ sessionId }: Lease): number {
    return this.#numbers.get(sessionId) ?? this.#number(sessionId);
  }

  #require(id: SessionId): SessionRecord {
    const session = this.#reader.session(id);
    if (session === undefined) throw notFound(id);
    return session;
  }

  #number(id: SessionId): number {
    const number = this.#reader.sessionNumber(id);
    if (number === undefined) throw notFound(id);
    return number;
  }

  /** One heartbeat for the whole process, however many sessions it drives. */
  #startBeating(): void {
    // A claim that is answered while the store closes must not start a thread that no close would end.
    if (this.#beating || this.#isClosed) return;
    this.#beating = true;
    this.#writer.beat(this.#owner.id, beatMs(this.#leaseMs));
  }
}
