import type { Amount } from "../../domain/budget.ts";
import type { Json, JsonObject } from "../../domain/json.ts";
import type { CallEnding } from "../../domain/ledger.ts";
import type { RecordedRow } from "../journal.ts";

/** A call of the ledger. */
export type PaidCall = {
  readonly phase: string;
  readonly persona: string;
  /** The seq of the attempt's first row. */
  readonly started: number;
  /** The seq of its row. Null: it ended without one. */
  readonly step: number | null;
  readonly model: string;
  readonly asked: Amount;
  readonly at: number;
} & ({ readonly status: "open" } | (CallEnding & { readonly endedAt: number }));

/** A model call as it was sent. `repeats`: messages at its beginning that the call before sent as well. */
export interface SentMessages {
  readonly messages: readonly JsonObject[];
  readonly tools: readonly Json[] | undefined;
  readonly settings: JsonObject;
  readonly repeats: number;
}

/** The sources of a transcript besides the rows. */
export interface TranscriptPorts {
  readonly sent: (row: RecordedRow) => Promise<SentMessages>;
  /** The text of an artifact. Undefined if it is no longer stored. */
  readonly text: (sha256: string) => Promise<string | undefined>;
  /** The calls of the ledger, in order. */
  readonly calls: readonly PaidCall[];
}
