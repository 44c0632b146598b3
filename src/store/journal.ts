import type { Amount, Budget, BudgetLevelName, ReservationDecision, UnpricedRule } from "../domain/budget.ts";
import type { BudgetAlert } from "../domain/budget-alert.ts";
import type { ErrorJson } from "../domain/error-json.ts";
import type { OutputRange } from "../domain/fit-output.ts";
import type { SessionId } from "../domain/ids.ts";
import type { ReservationId, Saving, Settlement } from "../domain/ledger.ts";
import type { Ticket } from "../domain/ticket.ts";
import type { ClaimCause, Entry, RecordedRow, SessionUsage, Signal, Transition } from "../journal/journal.ts";
import type { RowToWrite } from "../journal/journal-codec.ts";
import type { EndedCall } from "./breaker-store.ts";
import type { LeaseState } from "./decisions/lease.ts";
import type { SessionLimits } from "./decisions/limits.ts";
import type { Rate, RateDecision } from "./decisions/rates.ts";
import type { SessionRecord } from "./session-record.ts";

export interface NewSession {
  readonly id: SessionId;
  readonly key?: string;
  readonly team: string;
  readonly teamFingerprint: string;
  readonly identity: string;
  /** When it may be taken, unless it is claimed before. */
  readonly wakeAt?: number;
  /** Hashes its rows point to. */
  readonly artifacts?: readonly string[];
  /** Keeps every artifact that this session references. */
  readonly artifactsOf?: SessionId;
  /** The time of its first row, if that row is older than this store. Default: now. */
  readonly createdAt?: number;
  readonly created: Extract<Transition, { kind: "session.created" }>;
  /** Rows after `created`, with ascending seqs above 1. */
  readonly copied?: readonly CopiedRow[];
  /** Rows to append after the copied ones, with the current time. */
  readonly appended?: readonly Transition[];
  /** Usage of the copied rows, which counts against every budget again. */
  readonly usage?: readonly SessionUsage[];
  /** The usage is only claimed: it does not count in the days that all sessions share. */
  readonly isClaimed?: boolean;
}

/**
 * A row from an earlier life of the session, or from the session it forks. It keeps its seq, because people name
 * steps by it.
 */
export type CopiedRow = RowToWrite & { readonly seq: number; readonly epoch: number; readonly at: number };

/** One process's numbered right to write a session's journal. Every write checks the epoch in its own transaction. */
export interface Lease {
  readonly sessionId: SessionId;
  readonly epoch: number;
}

export interface Claim {
  readonly lease: Lease;
  /** How the previous driver ended. `free`: cleanly. */
  readonly found: Exclude<LeaseState, "held">;
  /** The signals that the claim received, which are rows before its own. */
  readonly received: readonly RecordedRow[];
  /** The recorded row of the claim. */
  readonly row: RecordedRow;
}

/** A session that `take` may claim. */
export interface Candidate {
  readonly session: SessionRecord;
  /** True to drive it; false to only finish the files that its dead driver left. */
  readonly isToDrive: boolean;
}

/** Receives the promise of a claim that has begun. */
export type Begin = (claim: Promise<Claim>) => void;

/** Undefined leaves the session to another process. `blocked`: the reason shown to people. */
export type Consider = (
  candidate: Candidate,
) => Promise<Begin | { readonly blocked: ErrorJson } | undefined> | undefined;

/** Facts that are committed together with the entries. */
export interface Effects {
  /** Hashes that the entries reference, which retention must keep. */
  readonly artifacts?: readonly string[];
  /** Keeps every artifact that this session references. */
  readonly artifactsOf?: SessionId;
  /** The call that produced the entries. Its breaker learns the outcome. */
  readonly call?: EndedCall | undefined;
  /** Requests for help raised by the entries. */
  readonly tickets?: readonly Ticket[] | undefined;
  /** The reserved call that produced the entries, and its cost. Settled with them, exactly once. */
  readonly settlement?: Settlement | undefined;
  /** Amounts that were saved. */
  readonly savings?: readonly Saving[] | undefined;
  /** Alerts to raise. Each new one becomes a `budget.alerted` row after the entries. */
  readonly alerts?: readonly BudgetAlert[] | undefined;
}

export interface BudgetLimit {
  readonly level: BudgetLevelName;
  readonly budget: Budget;
}

/** A call that may cost something, and its upper bound. */
export interface ReservationRequest {
  readonly phase: string;
  readonly persona: string;
  readonly round: number;
  readonly attempt: number;
  /** The seq of the attempt's first row. */
  readonly started: number;
  readonly model: string;
  readonly asked: Amount;
  /** The range within which the output may shrink if a limit refuses the full amount. */
  readonly output?: OutputRange | undefined;
  /** The probable amount, while `asked` is the bound. Shown to people; decides nothing. */
  readonly likely?: Amount;
  readonly limits: readonly BudgetLimit[];
  /** Default: refuse. */
  readonly unpriced?: UnpricedRule;
  /** The provider's limits per minute. */
  readonly rate?: Rate | undefined;
  /** Version of the price table. */
  readonly prices?: string | undefined;
}

/** `name`: the persona, phase, session or day whose budget refuses. */
export type ReservationRefusal = Exclude<ReservationDecision<BudgetLevelName>, { kind: "granted" }> & {
  readonly name: string;
};

/** The output that the budgets leave for a call, and the limit that refused the full amount. */
export interface ShrunkOutput {
  readonly output: number;
  readonly short: Extract<ReservationRefusal, { kind: "exceeded" }>;
}

export type ReservationAnswer =
  | { readonly kind: "granted"; readonly reservation: ReservationId; readonly shrunk?: ShrunkOutput }
  | RateRefusal
  | ReservationRefusal;

/** Nothing is reserved. There may be room a minute later. */
export type RateRefusal = Exclude<RateDecision, { kind: "granted" }>;

/**
 * The transactions of a session. Each verb commits once, and its promise resolves only after the commit. Verbs that
 * take a lease refuse a stale one with LeaseLost and write nothing. Rows are keyed by session and seq.
 */
export interface Journal {
  /**
   * Creates the session and returns its first row, or returns the session that already has its key. Copied rows are
   * rechained, and the session's status, epoch and seq continue after them.
   */
  createSession(
    session: NewSession,
  ): Promise<{ readonly session: SessionRecord; readonly row: RecordedRow | undefined }>;
  findSession(idOrKey: string): Promise<SessionRecord | undefined>;
  /**
   * Removes a session that no live driver holds, with all its rows. Its usage stays in totals and reports.
   * `onlyFinished`: throws SessionConflict if the session is not finished, checked in the same transaction.
   */
  deleteSession(id: SessionId, options?: { readonly onlyFinished?: boolean }): Promise<void>;

  /**
   * Takes the right to drive the session, or throws LeaseHeld. Records waiting signals and a `session.claimed`.
   * Open calls of earlier drivers count as made.
   */
  claimSession(id: SessionId, cause: ClaimCause | ((found: Claim["found"]) => ClaimCause)): Promise<Claim>;
  /**
   * The only scheduler: claims up to `places` sessions that continue by themselves, each in one transaction that
   * also checks the limits. decisions/take.ts has the order. Returns how many claims have begun.
   */
  take(places: number, consider: Consider, limits?: SessionLimits): Promise<number>;
  releaseSession(lease: Lease): Promise<void>;

  /** Appends all entries and effects, or none. */
  append(lease: Lease, entries: readonly Entry[], effects?: Effects): Promise<readonly RecordedRow[]>;
  /**
   * Resolves in order once earlier appends are committed: starting work sooner would only fill memory. Undefined:
   * start now.
   */
  waitForRoom(): Promise<void> | undefined;
  /**
   * Reserves in one transaction over persona, phase, session and day, and over the provider's last minute, so that
   * no limit is exceeded across all processes.
   */
  reserve(lease: Lease, request: ReservationRequest): Promise<ReservationAnswer>;
  /** Removes the reservation of a call that was never sent. */
  withdraw(lease: Lease, reservation: ReservationId): Promise<void>;

  /** Leaves a person's signal for the session's current or next driver. */
  signal(id: SessionId, message: Signal): Promise<void>;
  /** Turns each waiting signal into a journal row. */
  receive(lease: Lease): Promise<readonly RecordedRow[]>;

  /**
   * Rows above `afterSeq`, at most `limit`, in order and in pages. Verifies the hash chain from the row before
   * them, and at each seal's last covered row the hash in the seal (JournalCorrupt). Reads no earlier row.
   */
  readJournal(id: SessionId, afterSeq?: number, limit?: number): AsyncIterable<readonly RecordedRow[]>;
  /**
   * Rows that are not steps, in order and in pages. Each is verified against the hash it was chained to. Reads no
   * steps.
   */
  readTransitions(id: SessionId, afterSeq?: number): AsyncIterable<readonly RecordedRow[]>;
  /**
   * The body of one row, verified against the hash of the row before it (JournalCorrupt). Later rows are not read,
   * and only a later row or seal reveals that both were changed: for a row that the caller has not read before, use
   * `readJournal`.
   */
  readBody(id: SessionId, seq: number): Promise<string>;
}
