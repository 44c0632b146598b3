import type { RowToWrite } from "../../journal/journal-codec.ts";
import { chainHash } from "../../journal/journal-codec.ts";
import { listedAfter, provesLife, reduceCard } from "../../journal/reduce.ts";
import { heldUntil, type SessionCard, waitsFor } from "../../journal/session-card.ts";
import {
  finalStatuses,
  reasonOf,
  type SessionStatus,
  sessionStatuses,
  wakeAtOf,
} from "../../journal/standing.ts";
import type { Placed } from "../command.ts";
import type { JudgedLease } from "../decisions/lease.ts";
import type { CopiedRow } from "../journal.ts";

/** The columns of a session that transactions decide on and change. */
export interface SessionColumns {
  status: SessionStatus;
  reason: string | null;
  wakeAt: number | null;
  blocked: string | null;
  teamFingerprint: string;
  recoveries: number;
  updatedAt: number;
  statusAt: number;
}

export interface LoadedSession extends SessionColumns {
  readonly number: number;
  readonly id: string;
  readonly epoch: number;
  readonly owner: string | null;
  readonly seq: number;
  readonly hash: string;
}

export interface JournalRow {
  readonly row: RowToWrite;
  readonly seq: number;
  readonly epoch: number;
  readonly at: number;
  readonly hash: string;
  readonly previousHash: string | null;
}

type CardChange = "none" | "dropped" | "changed";

/** A locked session in memory: commands change it, and the transaction saves what they left. */
export class SessionImage {
  readonly number: number;
  readonly columns: SessionColumns;
  readonly rows: JournalRow[] = [];
  readonly references = new Set<string>();
  readonly referencesOf: string[] = [];
  epoch: number;
  owner: string | null;
  seq: number;
  hash: string;
  beat: number | null = null;
  card: SessionCard | undefined;
  cardChange: CardChange = "none";
  waits: readonly string[] | undefined;
  isLeaseChanged = false;
  areColumnsChanged = false;

  constructor(loaded: LoadedSession) {
    const { number, id: _, epoch, owner, seq, hash, ...columns } = loaded;
    this.number = number;
    this.columns = { ...columns };
    this.epoch = epoch;
    this.owner = owner;
    this.seq = seq;
    this.hash = hash;
  }

  get lease(): JudgedLease {
    return { epoch: this.epoch, owner: this.owner, beat: this.beat };
  }

  get isFinished(): boolean {
    return finalStatuses.includes(this.columns.status);
  }

  give(owner: string | null, epoch: number = this.epoch): void {
    this.owner = owner;
    this.epoch = epoch;
    this.isLeaseChanged = true;
  }

  change(columns: Partial<SessionColumns>): void {
    Object.assign(this.columns, columns);
    this.areColumnsChanged = true;
  }

  append(rows: readonly RowToWrite[], at: number, epoch: number = this.epoch): Placed[] {
    return rows.map((row) => this.#append(row, { seq: this.seq + 1, at, epoch }));
  }

  /** Rows of an earlier life keep their seq. The session's epoch continues after theirs. */
  copy(rows: readonly CopiedRow[]): void {
    for (const row of rows) {
      if (row.seq <= this.seq) throw new Error(`copied row ${row.seq} comes after row ${this.seq}`);
      this.#append(row, row);
      this.epoch = Math.max(this.epoch, row.epoch);
    }
  }

  #append(
    row: RowToWrite,
    { seq, at, epoch }: { readonly seq: number; readonly at: number; readonly epoch: number },
  ): Placed {
    const isStep = row.attempt !== null;
    const previousHash = isStep ? null : this.hash;
    const hash = chainHash(this.hash, { ...row, seq, epoch, at });
    this.rows.push({ row, seq, epoch, at, hash, previousHash });
    this.seq = seq;
    this.hash = hash;
    this.isLeaseChanged = true;
    if (!isStep) {
      this.#project(row, at);
      this.#reduceCard(row, seq);
    }
    if (this.columns.recoveries > 0 && provesLife(row)) this.change({ recoveries: 0 });
    return [seq, at, hash];
  }

  /** The session's record must always agree with the journal. */
  #project(row: RowToWrite, at: number): void {
    const { standing, teamFingerprint } = listedAfter(row) ?? {};
    if (teamFingerprint !== undefined) this.change({ teamFingerprint, updatedAt: at });
    if (standing === undefined) {
      if (teamFingerprint === undefined) this.change({ updatedAt: at });
      return;
    }
    const { status } = standing;
    if (!sessionStatuses.includes(status)) throw new Error(`there is no status ${status}`);
    const [reason, wakeAt] = [reasonOf(standing) ?? null, wakeAtOf(standing) ?? null];
    if (status !== "running" || wakeAt !== null)
      this.change({ status, reason, wakeAt, blocked: null, updatedAt: at, statusAt: at });
    // A claim does not undo a cancel.
    else if (this.columns.status !== "canceled") {
      const statusAt = this.columns.status === "running" ? this.columns.statusAt : at;
      this.change({ status, reason: null, wakeAt: null, blocked: null, updatedAt: at, statusAt });
    }
  }

  #reduceCard(row: RowToWrite, seq: number): void {
    try {
      const next = reduceCard(this.card, { ...row, seq });
      if (next === undefined || next === this.card) return;
      const before = this.card === undefined ? [] : waitsFor(this.card);
      const after = waitsFor(next);
      if (JSON.stringify(before) !== JSON.stringify(after)) this.waits = after;
      this.card = next;
      this.cardChange = "changed";
    } catch {
      // A card must never prevent a fact from being recorded. Without a card the session is reduced when it is listed.
      this.card = undefined;
      this.cardChange = "dropped";
      this.waits = [];
    }
  }

  get heldUntil(): number | null {
    return (this.card && heldUntil(this.card)) ?? null;
  }
}
