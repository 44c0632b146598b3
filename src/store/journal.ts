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
  /** When it may be taken, if it is not claimed by then. */
  readonly wakeAt?: number;
  /** Hashes its rows point to. */
  readonly artifacts?: readonly string[];
  /** Everything this session points to is pointed to from here as well. */
  readonly artifactsOf?: SessionId;
  /** The time of its first row, where that row is older than this store; now unless given. */
  readonly createdAt?: number;
  readonly created: Extract<Transition, { kind: "session.created" }>;
  /** Rows that follow `created`, with ascending seqs above 1. */
  readonly copied?: readonly CopiedRow[];
  /** Appended behind the copied rows, now. */
  readonly appended?: readonly Transition[];
  /** Usage of the copied rows: counted again against every budget. */
  readonly usage?: readonly SessionUsage[];
}

/** A row of an earlier life of the session, or of the session it forks, which keeps its seq: people name steps by it. */
export type CopiedRow = RowToWrite & { readonly seq: number; readonly epoch: number; readonly at: number };

/** One process's numbered right to write a session's journal. Every write proves the epoch in its own transaction. */
export interface Lease {
  readonly sessionId: SessionId;
  readonly epoch: number;
}

export interface Claim {
  readonly lease: Lease;
  /** How the previous driver ended; `free` is a clean end. */
  readonly found: Exclude<LeaseState, "held">;
  /** The claim itself as it was recorded. */
  readonly row: RecordedRow;
}

/** A session that `take` may claim. */
export interface Candidate {
  readonly session: SessionRecord;
  /** Drive it; otherwise only finish what its dead driver left. */
  readonly isToDrive: boolean;
}

/** Called with the claim that is under way. */
export type Begin = (claim: Promise<Claim>) => void;

/** Undefined leaves the session to another process. `blocked`: so that people see why this one does not take it. */
export type Consider = (
  candidate: Candidate,
) => Promise<Begin | { readonly blocked: ErrorJson } | undefined> | undefined;

/** Facts that become true together with the entries. */
export interface Effects {
  /** Hashes the entries point to, which retention must then keep. */
  readonly artifacts?: readonly string[];
  /** Everything this session points to is pointed to from here as well. */
  readonly artifactsOf?: SessionId;
  /** The call that produced the entries: its breaker learns how it ended. */
  readonly call?: EndedCall | undefined;
  /** The requests for help the entries are about. */
  readonly tickets?: readonly Ticket[] | undefined;
  /** The reserved call that produced the entries, and what it took: settled with them, exactly once. */
  readonly settlement?: Settlement | undefined;
  /** Amounts that did not have to be paid. */
  readonly savings?: readonly Saving[] | undefined;
  /** Those that were not raised before are recorded behind the entries, one `budget.alerted` row each. */
  readonly alerts?: readonly BudgetAlert[] | undefined;
}

export interface BudgetLimit {
  readonly level: BudgetLevelName;
  readonly budget: Budget;
}

/** A call that may cost something, and its bound. */
export interface ReservationRequest {
  readonly phase: string;
  readonly persona: string;
  readonly round: number;
  readonly attempt: number;
  /** The seq of the attempt's first row. */
  readonly started: number;
  readonly model: string;
  readonly asked: Amount;
  /** The output may shrink within this where a limit refuses the whole. */
  readonly output?: OutputRange | undefined;
  /** The probable amount, where `asked` is the bound: shown to people, and decides nothing. */
  readonly likely?: Amount;
  readonly limits: readonly BudgetLimit[];
  /** Refused unless given. */
  readonly unpriced?: UnpricedRule;
  /** What the provider admits in a minute. */
  readonly rate?: Rate | undefined;
  /** Version of the table that prices it. */
  readonly prices?: string | undefined;
}

/** `name`: the persona, phase, session or day whose budget refuses. */
export type ReservationRefusal = Exclude<ReservationDecision<BudgetLevelName>, { kind: "granted" }> & {
  readonly name: string;
};

/** The output that the budgets leave to a call, and the limit that refused the whole. */
export interface ShrunkOutput {
  readonly output: number;
  readonly short: Extract<ReservationRefusal, { kind: "exceeded" }>;
}

export type ReservationAnswer =
  | { readonly kind: "granted"; readonly reservation: ReservationId; readonly shrunk?: ShrunkOutput }
  | RateRefusal
  | ReservationRefusal;

/** Nothing is reserved; a minute later there may be room. */
export type RateRefusal = Exclude<RateDecision, { kind: "granted" }>;

/**
 * The transactions of a session's life. Each verb commits once, and its promise resolves only after the commit. Verbs
 * that take a lease refuse a stale one with LeaseLost and write nothing. Rows are keyed by session and seq.
 */
export interface Journal {
  /**
   * Creates the session and gives its first row, or only the session that already has its key. The copied rows are
   * chained to each other anew, and the session's status, epoch and seq continue behind them.
   */
  createSession(
    session: NewSession,
  ): Promise<{ readonly session: SessionRecord; readonly row: RecordedRow | undefined }>;
  findSession(idOrKey: string): Promise<SessionRecord | undefined>;
  /**
   * Removes a session that no live driver holds, with all its rows. Its usage stays in totals and reports.
   * `onlyFinished`: SessionConflict when it is not, or not any more; proved in the transaction that removes it.
   */
  deleteSession(id: SessionId, options?: { readonly onlyFinished?: boolean }): Promise<void>;

  /**
   * Takes the right to drive the session, or throws LeaseHeld. Records the signals that wait and a `session.claimed`;
   * calls of earlier drivers that are still open count as made.
   */
  claimSession(id: SessionId, cause: ClaimCause | ((found: Claim["found"]) => ClaimCause)): Promise<Claim>;
  /**
   * The only scheduler: claims up to `places` of the sessions that continue by themselves, each in one transaction that
   * also counts the limits. decisions/take.ts has the order. Gives how many claims are under way.
   */
  take(places: number, consider: Consider, limits?: SessionLimits): Promise<number>;
  releaseSession(lease: Lease): Promise<void>;

  /** All entries and effects, or none. */
  append(lease: Lease, entries: readonly Entry[], effects?: Effects): Promise<readonly RecordedRow[]>;
  /** Resolves in turn when earlier appends are committed: work that begins sooner only fills memory. Undefined: begin. */
  waitForRoom(): Promise<void> | undefined;
  /**
   * One transaction over persona, phase, session and day, and over the last minute of the provider: in all processes
   * together no limit is exceeded.
   */
  reserve(lease: Lease, request: ReservationRequest): Promise<ReservationAnswer>;
  /** Removes the reservation of a call that was never sent. */
  withdraw(lease: Lease, reservation: ReservationId): Promise<void>;

  /** Leaves a signal of a person for the session's driver, or for the next one. */
  signal(id: SessionId, message: Signal): Promise<void>;
  /** Turns each waiting signal into one journal row. */
  receive(lease: Lease): Promise<readonly RecordedRow[]>;

  /**
   * Rows above `afterSeq`, `limit` at most, in order and in pages. The hash chain is verified from the row before them,
   * and at the last row that each seal covers by the hash in the seal (JournalCorrupt); no row before is read.
   */
  readJournal(id: SessionId, afterSeq?: number, limit?: number): AsyncIterable<readonly RecordedRow[]>;
  /** Rows that are not steps, in order and in pages. Each is verified against the hash it was chained to; no step is read. */
  readTransitions(id: SessionId, afterSeq?: number): AsyncIterable<readonly RecordedRow[]>;
  /**
   * The body of one row, verified against the hash of the row before it (JournalCorrupt). Rows behind it are not read, so a
   * caller that has not read it before needs `readJournal`: only a later row or seal shows that both were changed.
   */
  readBody(id: SessionId, seq: number): Promise<string>;
}
