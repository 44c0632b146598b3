import type { Admission } from "../domain/breaker.ts";
import type { BudgetAlert } from "../domain/budget-alert.ts";
import type { SessionId } from "../domain/ids.ts";
import type { ReservationId } from "../domain/ledger.ts";
import type { Ticket } from "../domain/ticket.ts";
import type { PostingDelivery, TicketDelivery } from "../domain/ticket-delivery.ts";
import type { ClaimCause, JournalHead, SessionUsage } from "../journal/journal.ts";
import type { PlacedRow, RowToWrite } from "../journal/journal-codec.ts";
import type { BreakerUse, EndedCall } from "./breaker-store.ts";
import type { JudgedLease } from "./decisions/lease.ts";
import type { Limit } from "./decisions/limits.ts";
import type { CopiedRow, Effects, ReservationAnswer, ReservationRequest } from "./journal.ts";
import type { Login } from "./logins.ts";
import type { Heartbeat } from "./owner.ts";
import type { DueTicket } from "./ticket-store.ts";
import type { Act, User } from "./users.ts";

/** A command for the writer: plain data, because it crosses a thread. Commits completely or not at all. */
export type Command =
  | {
      readonly verb: "create";
      readonly session: SessionRow;
      readonly row: RowToWrite;
      readonly copied: readonly CopiedRow[];
      /** Appended after the copied rows with time `at`. */
      readonly appended: readonly RowToWrite[];
      readonly at: number;
      readonly artifacts: readonly string[];
      readonly artifactsOf: SessionId | undefined;
      readonly usage: readonly SessionUsage[];
      readonly isClaimed?: boolean | undefined;
    }
  /** `head`: the expected end of the journal. `owner`: the dead holder of the lease, if any. */
  | {
      readonly verb: "restore";
      readonly session: number;
      readonly owner: string | null;
      readonly head: JournalHead;
      readonly copied: readonly CopiedRow[];
      readonly appended: readonly RowToWrite[];
      readonly at: number;
      readonly artifacts: readonly string[];
      readonly usage: readonly SessionUsage[];
    }
  | {
      readonly verb: "claim";
      readonly session: number;
      /** If the lease has changed since, the claim is refused. */
      readonly judged: JudgedLease;
      /** The status that the scheduler saw. Null accepts any. */
      readonly expectedStatus: string | null;
      readonly claimant: Omit<Heartbeat, "beats">;
      readonly at: number;
      readonly row: RowToWrite;
      readonly cause: ClaimCause;
      /** The limits that apply to it, checked again in the transaction without the sessions of dead processes. */
      readonly limits: readonly Limit[];
      readonly deadOwners: readonly string[];
    }
  /** Records why the process does not take the session, unless its status has changed since. */
  | {
      readonly verb: "block";
      readonly session: number;
      readonly expectedStatus: string;
      readonly blocked: string;
    }
  | {
      readonly verb: "release";
      readonly session: number;
      readonly epoch: number;
      readonly owner: string;
      readonly at: number;
    }
  | AppendRows
  | { readonly verb: "admit"; readonly use: BreakerUse; readonly at: number }
  | { readonly verb: "end-call"; readonly call: EndedCall; readonly at: number }
  | { readonly verb: "reset-breaker"; readonly dependency: string; readonly at: number }
  | TicketCommand
  | LoginCommand
  | UserCommand
  | { readonly verb: "signal"; readonly session: number; readonly at: number; readonly body: string }
  | {
      readonly verb: "receive";
      readonly session: number;
      readonly epoch: number;
      readonly owner: string;
      readonly at: number;
    }
  /** Deletes a slice of `rows` at a time. */
  | {
      readonly verb: "delete";
      readonly session: number;
      /** If the lease has changed since, the deletion is refused. */
      readonly judged: JudgedLease;
      readonly onlyFinished: boolean;
      readonly rows: number;
      readonly at: number;
    }
  | { readonly verb: "remember-comparison"; readonly comparedAt: number }
  | { readonly verb: "reclaim" }
  /** Writes nothing. Done once this process has held the lock. */
  | { readonly verb: "pass" }
  | LedgerCommand;

export interface AppendRows {
  readonly verb: "append";
  readonly session: number;
  readonly epoch: number;
  readonly owner: string;
  readonly at: number;
  readonly rows: readonly RowToWrite[];
  readonly effects: Effects;
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

export type UserCommand =
  | { readonly verb: "add-user"; readonly hash: string; readonly user: User }
  | { readonly verb: "redeem-link"; readonly hash: string }
  | { readonly verb: "revoke-user"; readonly name: string }
  | { readonly verb: "note-act"; readonly act: Act };

export type LoginCommand =
  | { readonly verb: "add-login"; readonly hash: string; readonly login: Login }
  | {
      readonly verb: "renew-login";
      readonly hash: string;
      readonly usedAt: number;
      readonly expiresAt: number;
    }
  | { readonly verb: "end-login"; readonly hash: string };

/** `owner` and `epoch` prove the lease. For an estimate, they prove that it still belongs to the dead driver. */
export type LedgerCommand = {
  readonly session: number;
  readonly epoch: number;
  readonly owner: string | null;
  readonly at: number;
} & (
  | { readonly verb: "reserve"; readonly sessionId: string; readonly request: ReservationRequest }
  | { readonly verb: "release-reservation"; readonly reservation: ReservationId }
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
  readonly model: string | null;
  readonly queue: string;
  readonly priority: number;
}

export type Placed = PlacedRow;

export interface ReceivedSignal {
  readonly placed: Placed;
  readonly body: string;
}

export type Reply =
  | { readonly kind: "done" }
  /** `alerts`: the append's new alerts, each with a row after those of the entries. */
  | {
      readonly kind: "placed";
      /** Only for a claim. */
      readonly received?: readonly ReceivedSignal[];
      readonly epoch: number;
      readonly rows: readonly Placed[];
      readonly alerts?: readonly BudgetAlert[];
    }
  /** A session with this id or key already existed. */
  | { readonly kind: "exists" }
  /** The claim or lease is invalid. `epoch` is the valid one. */
  | { readonly kind: "refused"; readonly epoch: number }
  | {
      readonly kind: "received";
      readonly rows: readonly ReceivedSignal[];
    }
  | { readonly kind: "deleted"; readonly more: boolean }
  | { readonly kind: "admission"; readonly admission: Admission }
  | { readonly kind: "taken"; readonly due: DueTicket | undefined }
  | { readonly kind: "reservation"; readonly answer: ReservationAnswer }
  /** `found`: whether there was something to remove. */
  | { readonly kind: "removed"; readonly found: boolean }
  | { readonly kind: "failed"; readonly error: WriteError };

export type Success = Exclude<Reply, { kind: "failed" }>;
/** Resolves after the commit. A failure is thrown as an error of domain/errors.ts. */
export type Submit = (command: Command) => Promise<Success>;

/** SQLite's error after crossing the thread boundary, which loses its class and other fields. */
export interface WriteError {
  readonly message: string;
  readonly errcode: number | undefined;
  /** The file that was removed or replaced. */
  readonly removed?: { readonly path: string; readonly isReplaced: boolean } | undefined;
}
