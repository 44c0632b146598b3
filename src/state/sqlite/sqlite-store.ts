import type { DatabaseSync } from "node:sqlite";
import { chainStart } from "../../domain/chain.ts";
import type { Clock } from "../../domain/clock.ts";
import {
  JournalCorrupt,
  LeaseHeld,
  MaestroError,
  SessionConflict,
  SessionNotFound,
  StorageFailed,
} from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { type ClaimCause, type Entry, finalStatuses, type RecordedRow } from "../../domain/journal.ts";
import { encodeEntry, transitionRow } from "../../domain/journal-codec.ts";
import type { Message } from "../../domain/message.ts";
import type { BreakerStore } from "../breaker-store.ts";
import type { Lease, LeaseState } from "../lease.ts";
import type { LedgerStore } from "../ledger-store.ts";
import type { ListingStore } from "../listing-store.ts";
import { type Heartbeat, type Owner, thisOwner, uptimeMs } from "../owner.ts";
import type {
  Claim,
  Comparison,
  Effects,
  LostSession,
  NewSession,
  SessionQuery,
  SessionRecord,
  Store,
} from "../store.ts";
import type { TicketStore } from "../ticket-store.ts";
import { AppendCommand, type Command, type Placed, type Reply, type Success } from "./command.ts";
import { LeaseJudge } from "./lease-judge.ts";
import { lostTo } from "./lost-lease.ts";
import { measureCommit } from "./measure-commit.ts";
import { migrate, openDatabase, openForLooking } from "./open-database.ts";
import { Queries } from "./queries.ts";
import { Reader } from "./reader.ts";
import { SqliteBreakers } from "./sqlite-breakers.ts";
import { translate, wasClosed } from "./sqlite-errors.ts";
import { SqliteLedger } from "./sqlite-ledger.ts";
import { SqliteListing } from "./sqlite-listing.ts";
import { SqliteTickets } from "./sqlite-tickets.ts";
import { verify } from "./verify-row.ts";
import { Writer } from "./writer.ts";
import { InlineWriter, ThreadWriter, type WriterClient } from "./writer-client.ts";
import { WrittenRow } from "./written-row.ts";

export interface SqliteStoreOptions {
  /** A file, or `:memory:`. */
  readonly path: string;
  readonly clock: Clock;
  /** How long a silent driver keeps its lease. */
  readonly leaseMs: number;
  /** The disk cannot be written: every write fails, and reading needs none. */
  readonly onlyLooks?: boolean;
}

const journalPageRows = 1_000;
const deleteSliceRows = 1_000;

export class SqliteStore implements Store {
  readonly breakers: BreakerStore;
  readonly tickets: TicketStore;
  readonly ledger: LedgerStore;
  readonly listing: ListingStore;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #leases: LeaseJudge;
  readonly #owner: Owner = thisOwner();
  readonly #database: DatabaseSync;
  readonly #reader: Reader;
  readonly #writer: WriterClient;
  #beating = false;
  #isClosed = false;

  constructor({ path, clock, leaseMs, onlyLooks = false }: SqliteStoreOptions) {
    this.#path = path;
    this.#clock = clock;
    this.#database = onlyLooks ? openForLooking(path) : openDatabase(path);
    if (!onlyLooks) migrate(this.#database, path);
    const queries = new Queries(this.#database, path);
    this.#reader = new Reader(queries);
    const submit = (command: Command) => this.#submit(command);
    const pass = () => submit({ verb: "pass" });
    this.#leases = new LeaseJudge({ reader: this.#reader, observer: this.#owner, clock, leaseMs, pass });
    this.breakers = new SqliteBreakers(queries, submit, clock);
    this.tickets = new SqliteTickets(queries, submit, clock);
    this.ledger = new SqliteLedger(queries, submit, clock, {
      owner: this.#owner.id,
      numberOf: (id) => this.#number(id),
      isDriven: (session) => this.#leases.stateOf(this.#reader.lease(session).holder) === "held",
    });
    this.listing = new SqliteListing(queries, path);
    if (path === ":memory:") this.#writer = new InlineWriter(new Writer(this.#database));
    else {
      this.#database.exec("PRAGMA query_only = 1");
      this.#writer = new ThreadWriter(path);
    }
  }

  async createSession(newSession: NewSession) {
    const { id, key, team, teamFingerprint, identity, wakeAt, created, artifacts = [] } = newSession;
    const session = {
      id,
      key: key ?? null,
      team,
      teamFingerprint,
      identity,
      at: this.#clock.now(),
      wakeAt: wakeAt ?? null,
    };
    const row = encodeEntry(created);
    const reply = await this.#submit({ verb: "create", session, row, artifacts });
    if (reply.kind === "placed")
      return { session: this.#require(id), row: new WrittenRow(row, reply.rows[0] as Placed, 0) };
    const existing = key === undefined ? this.#reader.session(id) : this.#reader.sessionWithKey(key);
    if (existing === undefined) throw new SessionConflict(`A session with the id ${id} exists already.`);
    return { session: existing, row: undefined };
  }

  async restoreSession({ session, restored, artifacts, usage = [] }: LostSession): Promise<SessionRecord> {
    const reply = await this.#submit({
      verb: "restore",
      session: { ...session, key: session.key ?? null, at: session.createdAt, wakeAt: null },
      status: session.status,
      reason: session.reason ?? null,
      seq: restored.head.seq,
      previous: restored.head.hash,
      row: encodeEntry(restored),
      artifacts,
      usage,
    });
    if (reply.kind === "exists") {
      throw new SessionConflict(
        `Session ${session.id} cannot be restored: its id or its key is in the database already.`,
      );
    }
    return this.#require(session.id);
  }

  async findSession(idOrKey: string): Promise<SessionRecord | undefined> {
    return this.#reader.session(idOrKey);
  }

  async findByPrefix(prefix: string): Promise<readonly SessionRecord[]> {
    return this.#reader.sessionsLike(prefix);
  }

  async findUnknown(ids: readonly SessionId[]): Promise<readonly SessionId[]> {
    return this.#reader.unknown(ids);
  }

  async findComparison(): Promise<Comparison> {
    return this.#reader.comparison();
  }

  async rememberComparison(comparedAt: number | undefined): Promise<void> {
    if (this.#reader.comparison().comparedAt === comparedAt) return;
    await this.#submit({ verb: "remember-comparison", comparedAt: comparedAt ?? 0 });
  }

  async listSessions(query: SessionQuery = {}): Promise<readonly SessionRecord[]> {
    return this.#reader.sessions(query);
  }

  async deleteSession(id: SessionId, { onlyFinished = false } = {}): Promise<void> {
    const session = this.#number(id);
    for (;;) {
      const status = this.#reader.session(id)?.status;
      if (onlyFinished && status !== undefined && !finalStatuses.includes(status))
        throw new SessionConflict(`Session ${id} is not finished: it is ${status}.`);
      const { holder } = this.#reader.lease(session);
      if (this.#leases.stateOf(holder) === "held") throw this.#heldBy(id, holder);
      const reply = await this.#submit({
        verb: "delete",
        session,
        owner: holder?.id ?? null,
        onlyFinished,
        rows: deleteSliceRows,
        at: this.#clock.now(),
      });
      if (reply.kind === "deleted" && !reply.more) return;
    }
  }

  async claimSession(
    id: SessionId,
    cause: ClaimCause | ((found: Claim["found"]) => ClaimCause),
  ): Promise<Claim> {
    const session = this.#number(id);
    const { epoch, holder, state: found } = await this.#leases.judge(session);
    if (found === "held") throw this.#heldBy(id, holder);
    const claimed = {
      kind: "session.claimed",
      cause: typeof cause === "function" ? cause(found) : cause,
      owner: this.#owner.id,
    } as const;
    const at = this.#clock.now();
    const row = encodeEntry(claimed);
    const reply = await this.#submit({
      verb: "claim",
      session,
      epoch,
      expected: holder === undefined ? null : { owner: holder.id, beatUptimeMs: holder.beatUptimeMs },
      claimant: { ...this.#owner, beatUptimeMs: uptimeMs(), beatAt: at },
      at,
      row,
    });
    if (reply.kind !== "placed") {
      throw this.#heldBy(id, this.#reader.lease(session).holder);
    }
    this.#startBeating();
    const lease = { sessionId: id, session, epoch: reply.epoch };
    return { lease, found, row: new WrittenRow(row, reply.rows[0] as Placed, reply.epoch) };
  }

  async releaseSession({ session, epoch }: Lease): Promise<void> {
    const at = this.#clock.now();
    await this.#submit({ verb: "release", session, epoch, owner: this.#owner.id, at });
  }

  async findDamage(): Promise<readonly string[]> {
    return this.#reader.damage();
  }

  async findAbandoned(): Promise<readonly SessionId[]> {
    // One look at each process, however many sessions it drives.
    const states = new Map<string | undefined, LeaseState>();
    return this.#reader
      .underWay()
      .filter(({ holder }) => {
        const state = states.get(holder?.id) ?? this.#leases.stateOf(holder);
        states.set(holder?.id, state);
        return state !== "held";
      })
      .map(({ id }) => id);
  }

  /** Not async and with no promise to spare: thousands of steps may wait here at a time. */
  append(lease: Lease, entries: readonly Entry[], effects: Effects = {}): Promise<readonly RecordedRow[]> {
    const rows = entries.map(encodeEntry);
    const append = new AppendCommand(lease, this.#owner.id, this.#clock.now(), rows, effects);
    return this.#send(append).then((sent) => {
      const reply = this.#succeeded(sent);
      if (reply.kind !== "placed") throw lostTo(lease, reply);
      return rows.map((row, index) => new WrittenRow(row, reply.rows[index] as Placed, lease.epoch));
    });
  }

  get hasRoom(): boolean {
    return this.#writer.hasRoom;
  }

  whenRoom(begin: () => void): void {
    this.#writer.whenRoom(begin);
  }

  async *readJournal(
    id: SessionId,
    afterSeq = 0,
    limit = Number.POSITIVE_INFINITY,
  ): AsyncIterable<readonly RecordedRow[]> {
    const session = this.#number(id);
    // The row before is read along, for its hash.
    const lastSeq = afterSeq + limit;
    let seq = Math.max(0, afterSeq - 1);
    let previous: string | undefined = seq === 0 ? chainStart(id) : undefined;
    for (;;) {
      const pageRows = Math.min(journalPageRows, lastSeq - seq);
      const page = this.#reader.journalPage(session, seq, pageRows);
      for (const row of page) {
        previous = verify(id, previous, row, seq);
        seq = row.seq;
      }
      // At most one is too many: the row before, read for its hash.
      const wanted = (page[0]?.seq ?? 0) > afterSeq ? page : page.slice(1);
      if (wanted.length > 0) yield wanted;
      if (page.length < pageRows || seq >= lastSeq) return;
      // A long history is read in turns, so that other sessions of this process go on meanwhile.
      await new Promise(setImmediate);
    }
  }

  async readBody(position: number): Promise<string> {
    const body = this.#reader.body(position);
    if (body === undefined) throw new JournalCorrupt(`Journal row ${position} of ${this.#path} is gone.`);
    return body;
  }

  async say(id: SessionId, message: Message): Promise<void> {
    await this.#submit({
      verb: "say",
      session: this.#number(id),
      at: this.#clock.now(),
      body: JSON.stringify(message),
    });
  }

  async hasWords(id: SessionId): Promise<boolean> {
    return this.#reader.hasWords(id);
  }

  async findAddressed(): Promise<readonly SessionId[]> {
    return this.#reader.addressed(this.#owner.id);
  }

  async findHeld(): Promise<ReadonlyMap<SessionId, number>> {
    return this.#reader.held(this.#owner.id);
  }

  async receive(lease: Lease): Promise<readonly RecordedRow[]> {
    const { session, epoch } = lease;
    const reply = await this.#submit({
      verb: "receive",
      session,
      epoch,
      owner: this.#owner.id,
      at: this.#clock.now(),
    });
    if (reply.kind !== "received") throw lostTo(lease, reply);
    return reply.rows.map(
      ({ placed, body }) => new WrittenRow(transitionRow("message.received", body), placed, epoch),
    );
  }

  async findDue(): Promise<readonly SessionId[]> {
    return this.#reader.due(this.#clock.now());
  }

  async findReferenced(hashes: readonly string[], by?: SessionId): Promise<ReadonlySet<string>> {
    return this.#reader.referenced(hashes, by);
  }

  async reclaimSpace(): Promise<void> {
    for (;;) {
      const reply = await this.#submit({ verb: "reclaim" });
      if (reply.kind !== "deleted" || !reply.more) return;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writer.close();
    if (this.#database.isOpen) this.#database.close();
  }

  #submit(command: Command): Promise<Success> {
    return this.#send(command).then(this.#succeeded);
  }

  #send(command: Command): Promise<Reply> {
    // The writer would start another thread for it, and nobody would ever end that one.
    if (this.#isClosed) return Promise.reject(wasClosed(this.#path));
    return measureCommit(command.verb, this.#writer.submit(command));
  }

  readonly #succeeded = (reply: Reply): Success => {
    if (reply.kind !== "failed") return reply;
    const { message, errcode } = reply.error;
    const error = translate(Object.assign(new Error(message), { errcode }), this.#path);
    if (MaestroError.is(error)) throw error;
    // No fault of the work that asked for it; if the thread died, nobody knows whether the commit was made.
    throw new StorageFailed(`${this.#path} did not take a write: ${message}`, {
      cause: error,
      details: { path: this.#path },
      advice: "Resume the session: it goes on from what was recorded.",
    });
  };

  #require(id: SessionId): SessionRecord {
    const session = this.#reader.session(id);
    if (session === undefined)
      throw new SessionNotFound(`There is no session ${id}.`, { details: { session: id } });
    return session;
  }

  #number(id: SessionId): number {
    const number = this.#reader.sessionNumber(id);
    if (number === undefined)
      throw new SessionNotFound(`There is no session ${id}.`, { details: { session: id } });
    return number;
  }

  #heldBy(id: SessionId, holder: Heartbeat | undefined): LeaseHeld {
    const who = holder === undefined ? "another driver" : `process ${holder.pid}`;
    return new LeaseHeld(`Session ${id} is being driven by ${who}.`, {
      details: { session: id, pid: holder?.pid },
      advice: "Let it finish, or stop that process and resume: a dead driver is noticed at once.",
    });
  }

  /** One heartbeat for the whole process, however many sessions it drives. */
  #startBeating(): void {
    // A claim that is answered while all is closed must not start a thread that nobody would ever end.
    if (this.#beating || this.#isClosed) return;
    this.#beating = true;
    this.#writer.beat(this.#owner.id, this.#leases.beatMs);
  }
}
