import type { BreakerRecord } from "../../domain/breaker.ts";
import type { Ticket } from "../../domain/ticket.ts";
import type { Command } from "../command.ts";
import type { Owner } from "../owner.ts";
import type { LedgerImage } from "./ledger-image.ts";
import type { SessionImage } from "./session-image.ts";

/** Commands that are decided in memory on loaded rows, many in one transaction. */
export type BatchCommand = Extract<
  Command,
  {
    verb:
      | "create"
      | "claim"
      | "release"
      | "append"
      | "admit"
      | "end-call"
      | "receive"
      | "reserve"
      | "release-reservation"
      | "estimate";
  }
>;

const batchVerbs: Readonly<Record<BatchCommand["verb"], true>> = {
  create: true,
  claim: true,
  release: true,
  append: true,
  admit: true,
  "end-call": true,
  receive: true,
  reserve: true,
  "release-reservation": true,
  estimate: true,
};

export const isBatched = (command: Command): command is BatchCommand =>
  Object.hasOwn(batchVerbs, command.verb);

export interface Waiting {
  readonly id: number;
  readonly at: number;
  readonly body: string;
}

export interface BreakerImage {
  readonly before: BreakerRecord;
  /** The stored text; undefined for a new breaker. */
  readonly stored: string | undefined;
  record: BreakerRecord;
  changedAt: number;
}

/** What a transaction has loaded, and what its commands changed. */
export interface Batch {
  readonly sessions: Map<number, SessionImage>;
  readonly created: {
    readonly command: Extract<Command, { verb: "create" }>;
    readonly session: SessionImage;
  }[];
  readonly ledger: LedgerImage;
  readonly breakers: Map<string, BreakerImage>;
  readonly inbox: Map<number, Waiting[]>;
  readonly received: number[];
  readonly tickets: { readonly ticket: Ticket; readonly at: number }[];
  readonly claimants: Map<string, Owner & { readonly beatUptimeMs: number; readonly beatAt: number }>;
  /** Ids and keys of sessions that exist. */
  readonly taken: { readonly ids: Set<string>; readonly keys: Set<string> };
  /** Numbers for new sessions. */
  readonly numbers: number[];
  /** Running sessions beside the one that is claimed, under each of its limits. */
  readonly running: ReadonlyMap<string, number>;
}
