import type { Admission } from "../../domain/breaker.ts";
import type { BudgetAlert } from "../../domain/budget-alert.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { Ticket } from "../../domain/ticket.ts";
import type { PostingDelivery, TicketDelivery } from "../../domain/ticket-delivery.ts";
import type { RecordedRow, SessionUsage } from "../../journal/journal.ts";
import type { RowToWrite } from "../../journal/journal-codec.ts";
import type { BreakerUse, EndedCall } from "../breaker-store.ts";
import type { CopiedRow, Effects, ReservationAnswer, ReservationRequest } from "../journal.ts";
import type { Heartbeat } from "../owner.ts";
import type { DueTicket } from "../ticket-store.ts";

/** What the writer does; plain data, because it crosses a thread. One command is one fact: all of it commits or none. */
export type Command =
  | {
      readonly verb: "create";
      readonly session: SessionRow;
      readonly row: RowToWrite;
      readonly copied: readonly CopiedRow[];
      /** Appended behind the copied rows; `at` is their time. */
      readonly appended: readonly RowToWrite[];
      readonly at: number;
      readonly artifacts: readonly string[];
      readonly artifactsOf: SessionId | undefined;
      readonly usage: readonly SessionUsage[];
    }
  | {
      readonly verb: "claim";
      readonly session: number;
      readonly epoch: number;
      /** The lease as it was when the decision to take it was made; anything else by now refuses the claim. */
      readonly expected: { readonly owner: string; readonly beatUptimeMs: number } | null;
      /** The status that the scheduler saw; null accepts any. */
      readonly expectedStatus: string | null;
      readonly claimant: Heartbeat;
      readonly at: number;
      readonly row: RowToWrite;
    }
  | {
      readonly verb: "release";
      readonly session: number;
      readonly epoch: number;
      readonly owner: string;
      readonly at: number;
    }
  | AppendCommand
  | { readonly verb: "admit"; readonly use: BreakerUse; readonly at: number }
  | { readonly verb: "end-call"; readonly call: EndedCall; readonly at: number }
  | { readonly verb: "reset-breaker"; readonly dependency: string }
  | TicketCommand
  | { readonly verb: "signal"; readonly session: number; readonly at: number; readonly body: string }
  | {
      readonly verb: "receive";
      readonly session: number;
      readonly epoch: number;
      readonly owner: string;
      readonly at: number;
    }
  /** `owner`: the dead holder of the lease, if there is one; a slice of `rows` at a time. */
  | {
      readonly verb: "delete";
      readonly session: number;
      readonly owner: string | null;
      readonly onlyFinished: boolean;
      readonly rows: number;
      readonly at: number;
    }
  | { readonly verb: "remember-comparison"; readonly comparedAt: number }
  | { readonly verb: "reclaim" }
  /** Changes nothing: done when this process had its turn at the lock. */
  | { readonly verb: "pass" }
  | LedgerCommand;

/** The one that every step makes. No literal: see ADR 2. */
export class AppendCommand {
  readonly verb = "append";
  readonly session: number;
  readonly epoch: number;
  readonly owner: string;
  readonly at: number;
  readonly rows: readonly RowToWrite[];
  readonly effects: Effects;

  constructor(
    session: number,
    epoch: number,
    owner: string,
    at: number,
    rows: readonly RowToWrite[],
    effects: Effects,
  ) {
    this.session = session;
    this.epoch = epoch;
    this.owner = owner;
    this.at = at;
    this.rows = rows;
    this.effects = effects;
  }
}

export type TicketCommand =
  | { readonly verb: "raise-ticket"; readonly ticket: Ticket; readonly at: number }
  | { readonly verb: "take-ticket"; readonly owner: string; readonly at: number }
  | {
      readonly verb: "settle-ticket";
      readonly id: string;
      readonly next: TicketDelivery;
      readonly taken: PostingDelivery;
    }
  | { readonly verb: "forget-tickets"; readonly ids: readonly string[] };

/** `owner` and `epoch` prove the lease; for an estimate, that it is still the one of a driver known to be gone. */
export type LedgerCommand = {
  readonly session: number;
  readonly epoch: number;
  readonly owner: string | null;
  readonly at: number;
} & (
  | { readonly verb: "reserve"; readonly sessionId: string; readonly request: ReservationRequest }
  | { readonly verb: "release-reservation"; readonly reservation: number }
  | { readonly verb: "estimate" }
);

export interface SessionRow {
  readonly id: string;
  readonly key: string | null;
  readonly team: string;
  readonly teamFingerprint: string;
  readonly identity: string;
  readonly at: number;
  readonly wakeAt: number | null;
}

/** Where a row went: position, seq, time, hash. */
export type Placed = readonly [position: number, seq: number, at: number, hash: string];

export type Reply =
  | { readonly kind: "done" }
  /** `alerts`: those of the append that were not raised before, each with a row behind those of the entries. */
  | {
      readonly kind: "placed";
      readonly epoch: number;
      readonly rows: readonly Placed[];
      readonly alerts?: readonly BudgetAlert[];
    }
  /** The session with this id or key was there before. */
  | { readonly kind: "exists" }
  /** The claim or the lease is not valid; the epoch that is. */
  | { readonly kind: "refused"; readonly epoch: number }
  | {
      readonly kind: "received";
      readonly rows: readonly { readonly placed: Placed; readonly body: string }[];
    }
  | { readonly kind: "deleted"; readonly more: boolean }
  | { readonly kind: "admission"; readonly admission: Admission }
  | { readonly kind: "taken"; readonly due: DueTicket | undefined }
  | { readonly kind: "reservation"; readonly answer: ReservationAnswer }
  /** Whether there was anything to reset. */
  | { readonly kind: "reset"; readonly found: boolean }
  | { readonly kind: "failed"; readonly error: WriteError };

export type Success = Exclude<Reply, { kind: "failed" }>;
/** Resolves after the commit; a failure is thrown in the product's words. */
export type Submit = (command: Command) => Promise<Success>;

/** What is left of SQLite's error behind a thread boundary; class and fields do not cross it. */
export interface WriteError {
  readonly message: string;
  readonly errcode: number | undefined;
}

/** A row that was just written, as it will be read back. No literal: see ADR 2. */
export class WrittenRow implements RecordedRow {
  readonly position: number;
  readonly seq: number;
  readonly epoch: number;
  readonly at: number;
  readonly kind: RecordedRow["kind"];
  readonly attempt: number | null;
  readonly occurrence: number | null;
  readonly fingerprint: string | null;
  readonly name: string | null;
  readonly body: string;
  readonly hash: string;

  constructor(row: RowToWrite, [position, seq, at, hash]: Placed, epoch: number) {
    this.position = position;
    this.seq = seq;
    this.epoch = epoch;
    this.at = at;
    this.kind = row.kind;
    this.attempt = row.attempt;
    this.occurrence = row.occurrence;
    this.fingerprint = row.fingerprint;
    this.name = row.name;
    this.body = row.body;
    this.hash = hash;
  }
}
