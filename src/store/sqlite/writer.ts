import type { DatabaseSync } from "node:sqlite";
import { StateRemoved } from "../../domain/errors.ts";
import type { JournalHead } from "../../journal/journal.ts";
import { encodeEntry, transitionRow } from "../../journal/journal-codec.ts";
import type { Command, Placed, ReceivedSignal, Reply, WriteError } from "../command.ts";
import { reachCommit } from "../commit-faults.ts";
import { isAsJudged, type JudgedLease, type StoredLease } from "../decisions/lease.ts";
import { type Limit, reachedLimit } from "../decisions/limits.ts";
import { reach } from "../fault-points.ts";
import type { DatabaseFiles } from "./database-files.ts";
import { JournalTable } from "./journal-table.ts";
import { giveBackSpace, shortenLog } from "./reclaim-space.ts";
import { isBusy } from "./sqlite-errors.ts";
import { whenFree } from "./statement.ts";
import { BreakerTable } from "./writer-breakers.ts";
import { CardTable } from "./writer-cards.ts";
import { LedgerTable } from "./writer-ledger.ts";
import { LoginTable } from "./writer-logins.ts";
import { writerStatements } from "./writer-statements.ts";
import { TicketTable } from "./writer-tickets.ts";
import { UserTable } from "./writer-users.ts";

const orphanRows = 1_000;
const lockPatienceMs = 20_000;

type NewSession = Pick<Extract<Command, { verb: "create" }>, "session" | "row">;

/** The one path for writes. Everything passed to `commit` is one transaction. */
export class Writer {
  readonly #database: DatabaseSync;
  readonly #files: DatabaseFiles | undefined;
  readonly #statements;
  readonly #breakers: BreakerTable;
  readonly #tickets: TicketTable;
  readonly #logins: LoginTable;
  readonly #users: UserTable;
  readonly #ledger: LedgerTable;
  readonly #cards: CardTable;
  readonly #journal: JournalTable;

  /** `files`: undefined for a database in memory. */
  constructor(database: DatabaseSync, files?: DatabaseFiles) {
    this.#database = database;
    this.#files = files;
    this.#statements = writerStatements(database);
    this.#breakers = new BreakerTable(database);
    this.#tickets = new TicketTable(database);
    this.#logins = new LoginTable(database);
    this.#users = new UserTable(database);
    this.#ledger = new LedgerTable(database);
    this.#cards = new CardTable(database);
    this.#journal = new JournalTable(this.#statements, this.#cards);
    // `whenFree` waits for the lock, because SQLite's own waiting is unfair between processes.
    database.exec("PRAGMA busy_timeout = 0");
  }

  commit(commands: readonly Command[]): Reply[] {
    try {
      this.#begin();
    } catch (error) {
      return commands.map(() => failed(error));
    }
    // One bad command must not roll back the others' facts.
    return this.#commitBegun(commands) ?? commands.flatMap((command) => this.commit([command]));
  }

  /** Does not wait for the lock. Undefined if another connection is writing, or if one of several commands is bad. */
  commitAtOnce(commands: readonly Command[]): Reply[] | undefined {
    try {
      this.#statements.begin.run();
    } catch (error) {
      return isBusy(error) ? undefined : commands.map(() => failed(error));
    }
    return this.#commitBegun(commands);
  }

  /** Undefined, with nothing written, if one of several commands is bad. */
  #commitBegun(commands: readonly Command[]): Reply[] | undefined {
    let replies: Reply[];
    let indexed = false;
    try {
      replies = commands.map((command) => this.#execute(command));
      indexed = this.#journal.indexWhenDue();
    } catch (error) {
      this.#rollback();
      return commands.length > 1 ? undefined : [failed(error)];
    }
    try {
      if (reach !== undefined) reachCommit(reach, commands, indexed, "before-commit");
      this.#statements.commit.run();
    } catch (error) {
      this.#rollback();
      return commands.map(() => failed(error));
    }
    if (reach !== undefined) reachCommit(reach, commands, indexed, "after-commit");
    // Cannot run inside a transaction.
    const swept = replies.some(
      (reply, at) => commands[at]?.verb === "reclaim" && reply.kind === "deleted" && !reply.more,
    );
    if (swept) shortenLog(this.#database);
    // Checked between the commit and its acknowledgement, because no other process may ever see the write.
    const removal = this.#files?.findRemoval();
    return removal === undefined ? replies : commands.map(() => failed(removal));
  }

  /** Throws StateRemoved without a beat: a process that stops because of it must not look alive in a moved database. */
  beat(owner: string, uptimeMs: number, at: number): void {
    this.#files?.prove();
    this.#begin();
    try {
      this.#statements.beat.run(uptimeMs, at, owner);
      reach?.("owner.beat:before-commit");
      this.#statements.commit.run();
      reach?.("owner.beat:after-commit");
    } catch (error) {
      // If left open, this transaction would block every later one.
      this.#rollback();
      throw error;
    }
  }

  close(): void {
    this.#database.close();
  }

  #execute(command: Command): Reply {
    const sql = this.#statements;
    switch (command.verb) {
      case "create": {
        const session = this.#insertSession(command);
        if (session === undefined) return { kind: "exists" };
        for (const sha256 of command.artifacts) sql.refer.run(session, sha256);
        if (command.artifactsOf !== undefined) sql.referLike.run(session, command.artifactsOf);
        this.#ledger.restore(session, command.usage, command.isClaimed);
        return { kind: "placed", epoch: 0, rows: [this.#journal.create(session, command)] };
      }
      case "restore":
        return this.#restore(command);
      case "claim":
        return this.#claim(command);
      case "block": {
        sql.block.run(command.blocked, command.session, command.expectedStatus);
        return { kind: "done" };
      }
      case "release": {
        this.#journal.forgetHead(command.session);
        const { session, epoch, owner, at } = command;
        // The results of its open calls are lost, and the next claim may never come.
        if (sql.release.run(session, epoch, owner).changes === 1) this.#ledger.estimateOpen(session, at);
        return { kind: "done" };
      }
      case "append": {
        const refusal = this.#refuseStale(command);
        if (refusal) return refusal;
        const head = this.#journal.head(command);
        this.#applyEffects(command, head);
        const { session, epoch, at } = command;
        const rows = this.#journal.append(session, head, at, command.rows);
        const alerts = command.effects.alerts && this.#ledger.raise(session, at, command.effects.alerts);
        if (alerts === undefined || alerts.length === 0) return { kind: "placed", epoch, rows };
        const alerted = alerts.map((alert) => encodeEntry({ kind: "budget.alerted", alert }));
        rows.push(...this.#journal.append(session, this.#journal.head(command), at, alerted));
        return { kind: "placed", epoch, rows, alerts };
      }
      case "admit":
        return { kind: "admission", admission: this.#breakers.admit(command.use, command.at) };
      case "end-call": {
        this.#breakers.end(command.call, command.at);
        return { kind: "done" };
      }
      case "reset-breaker": {
        const { dependency, at } = command;
        sql.wakeFor.run(at, at, dependency);
        return { kind: "removed", found: this.#breakers.reset(dependency) };
      }
      case "remember-comparison":
        sql.setCompared.run(command.comparedAt);
        return { kind: "done" };
      case "raise-ticket":
      case "take-ticket":
      case "settle-ticket":
      case "forget-tickets":
        return this.#tickets.act(command);
      case "add-login":
      case "renew-login":
      case "end-login":
        return this.#logins.act(command);
      case "add-user":
      case "redeem-link":
      case "revoke-user":
      case "note-act":
        return this.#users.act(command);
      case "signal": {
        sql.signal.run(command.session, command.at, command.body);
        return { kind: "done" };
      }
      case "receive": {
        const refusal = this.#refuseStale(command);
        if (refusal) return refusal;
        return { kind: "received", rows: this.#receive(command) };
      }
      case "reserve":
      case "release-reservation":
      case "estimate":
        return this.#refuseStale(command) ?? this.#ledger.execute(command);
      case "delete":
        return this.#delete(command);
      case "reclaim": {
        // A claim registers its owner again, so owners without leases can be deleted.
        sql.forgetOwners.run();
        // Rows of a session whose deletion was interrupted by a kill.
        const orphan = sql.orphan.get() as unknown as [session: number] | undefined;
        if (orphan !== undefined) return this.#sweep(orphan[0]);
        return { kind: "deleted", more: giveBackSpace(this.#database) };
      }
      case "pass":
        return { kind: "done" };
    }
  }

  #applyEffects(append: Extract<Command, { verb: "append" }>, head: JournalHead): void {
    const { session, at, effects } = append;
    const { artifacts = [], artifactsOf, call, tickets = [], settlement, savings } = effects;
    for (const sha256 of artifacts) this.#statements.refer.run(session, sha256);
    if (artifactsOf !== undefined) this.#statements.referLike.run(session, artifactsOf);
    if (call !== undefined) this.#breakers.end(call, at);
    for (const ticket of tickets) this.#tickets.raise(ticket, at);
    if (settlement !== undefined) this.#ledger.settle(settlement, append, head.seq);
    if (savings !== undefined) this.#ledger.save(savings, append);
  }

  #insertSession(given: NewSession): number | undefined {
    const { id, key, team, teamFingerprint, identity, at, wakeAt, model, queue, priority } = given.session;
    const { changes, lastInsertRowid } = this.#statements.insertSession.run(
      id,
      key,
      team,
      teamFingerprint,
      identity,
      wakeAt,
      model,
      queue,
      priority,
      "queued",
      null,
      at,
      at,
      at,
    );
    if (changes === 0) return undefined;
    this.#cards.describe(Number(lastInsertRowid), given.session, given.row);
    return Number(lastInsertRowid);
  }

  /** Compare and swap: the lease must be unchanged since the claimant judged it free, dead or expired. */
  #claim(command: Extract<Command, { verb: "claim" }>): Reply {
    const { session, judged, expectedStatus, claimant, at, row } = command;
    const sql = this.#statements;
    const lease = this.#leaseWithBeat(session);
    const { epoch } = lease;
    const asJudged = isAsJudged(lease, judged);
    const hasStatus = expectedStatus === null || sql.hasStatus.get(session, expectedStatus) !== undefined;
    const hasPlace = reachedLimit(command.limits, this.#runningBeside(command)) === undefined;
    if (!asJudged || !hasStatus || !hasPlace) return { kind: "refused", epoch };
    const { id, machine, boot, pidNamespace, pid, started, beatUptimeMs, beatAt } = claimant;
    sql.introduce.run(id, machine, boot, pidNamespace, pid, started, beatUptimeMs, beatAt);
    sql.take.run(session, epoch + 1, id);
    this.#journal.forgetHead(session);
    this.#ledger.estimateOpen(session, at);
    // Signals first: a person's resume revokes an earlier pause, received or not.
    const received = this.#receive({ session, epoch: epoch + 1, at });
    if (command.cause === "recovery") this.#journal.recovered(session);
    else if (command.cause === "resume") sql.proved.run(session);
    const head = this.#journal.head({ session, epoch: epoch + 1 });
    const rows = this.#journal.append(session, head, at, [row]);
    return { kind: "placed", epoch: epoch + 1, rows, received };
  }

  /** Counts the other running sessions across all processes. */
  #runningBeside({ session, limits, deadOwners }: Extract<Command, { verb: "claim" }>) {
    const name = (kind: Limit["kind"]) => limits.find((limit) => limit.kind === kind)?.name ?? null;
    let counts: Readonly<Record<Limit["kind"], number>> | undefined;
    return (kind: Limit["kind"]): number => {
      if (counts === undefined) {
        const [team, model, queue] = this.#statements.countRunning.get(
          name("team"),
          name("model"),
          name("queue"),
          session,
          JSON.stringify(deadOwners),
        ) as unknown as (number | null)[];
        counts = { team: team ?? 0, model: model ?? 0, queue: queue ?? 0 };
      }
      return counts[kind];
    };
  }

  /** Also compare and swap: the journal must end where the newer rows continue it. */
  #restore(command: Extract<Command, { verb: "restore" }>): Reply {
    const { session, owner, head, copied, appended, at, artifacts, usage } = command;
    const lease = this.#lease(session);
    const found = this.#journal.head({ session, epoch: lease.epoch });
    if (lease.owner !== owner || found.seq !== head.seq || found.hash !== head.hash)
      return { kind: "refused", epoch: lease.epoch };
    for (const sha256 of artifacts) this.#statements.refer.run(session, sha256);
    this.#ledger.catchUp(session, usage);
    const end = this.#journal.copy(session, { ...found, epoch: 0 }, copied);
    // No driver recorded these rows, so they get no epoch.
    this.#journal.append(session, end, at, appended);
    this.#journal.forgetHead(session);
    this.#statements.take.run(session, lease.epoch, null);
    return { kind: "done" };
  }

  #refuseStale(proof: StoredLease & { readonly session: number }): Reply | undefined {
    const lease = this.#lease(proof.session);
    return lease.epoch === proof.epoch && lease.owner === proof.owner
      ? undefined
      : { kind: "refused", epoch: lease.epoch };
  }

  #receive({ session, epoch, at }: { session: number; epoch: number; at: number }): ReceivedSignal[] {
    const waiting = this.#statements.inbox.all(session) as unknown as [
      id: number,
      sentAt: number,
      body: string,
    ][];
    return waiting.map(([id, sentAt, message]) => {
      const body = `{"signal":${message},"sentAt":${sentAt}}`;
      const row = transitionRow("signal.received", body);
      const [placed] = this.#journal.append(session, this.#journal.head({ session, epoch }), at, [row]);
      this.#statements.forget.run(id);
      return { placed: placed as Placed, body };
    });
  }

  #delete({ session, judged, onlyFinished, rows, at }: Extract<Command, { verb: "delete" }>): Reply {
    const lease = this.#leaseWithBeat(session);
    const isLive = onlyFinished && this.#statements.isUnfinished.get(session) !== undefined;
    if (isLive || !isAsJudged(lease, judged)) return { kind: "refused", epoch: lease.epoch };
    this.#journal.forgetHead(session);
    // Remove the session first: one with half its history must not be listed.
    this.#statements.deleteSession.run(session);
    this.#ledger.forget(session, at);
    return this.#deleteRows(session, rows);
  }

  /** Deletes in slices, so that a long history does not delay other sessions' commits. */
  #deleteRows(session: number, rows: number): Reply {
    const hasMoreRows = this.#journal.deleteRows(session, rows);
    const hasMoreCalls = this.#ledger.deleteRows(session, rows);
    return { kind: "deleted", more: hasMoreRows || hasMoreCalls };
  }

  #sweep(orphan: number): Reply {
    this.#deleteRows(orphan, orphanRows);
    return { kind: "deleted", more: true };
  }

  #lease(session: number): StoredLease {
    const found = this.#statements.lease.get(session) as unknown as [number, string | null] | undefined;
    return found === undefined ? { epoch: 0, owner: null } : { epoch: found[0], owner: found[1] };
  }

  #leaseWithBeat(session: number): JudgedLease {
    const lease = this.#lease(session);
    const beat = lease.owner === null ? undefined : this.#statements.beatOf.get(lease.owner);
    return { ...lease, beat: (beat as unknown as [number] | undefined)?.[0] ?? null };
  }

  #begin(): void {
    try {
      this.#statements.begin.run();
    } catch (error) {
      if (!isBusy(error)) throw error;
      whenFree(() => void this.#statements.begin.run(), lockPatienceMs);
    }
  }

  #rollback(): void {
    this.#journal.rolledBack();
    // SQLite has already rolled back after some errors, such as a full disk.
    if (this.#database.isTransaction) this.#statements.rollback.run();
  }
}

export function failed(error: unknown): Reply {
  const { message, errcode, details } = error as { message: string; errcode?: number; details?: unknown };
  const removed = StateRemoved.is(error) ? (details as WriteError["removed"]) : undefined;
  return { kind: "failed", error: { message, errcode, removed } };
}
