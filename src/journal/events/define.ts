import type { RecordedRow } from "../row.ts";
import type { Schema } from "../schema.ts";
import type { SessionCard } from "../session-card.ts";
import type { SessionState } from "../session-state.ts";
import type { SessionStatus, Standing } from "../standing.ts";

/** Where a row stands. */
export interface RowPlace extends Pick<RecordedRow, "seq" | "at" | "hash" | "epoch"> {
  /** Digest over all transition rows up to it. */
  readonly transitions: string;
}

/** The columns of a session that stores index: changed in the transaction of the row. */
export interface Listed {
  readonly standing?: Standing;
  readonly teamFingerprint?: string;
}

export interface FactContext {
  readonly at: number;
  readonly epoch: number;
  /** When the attempt that the row belongs to began. */
  readonly startedAt: number | undefined;
}

/** How a list of facts marks one of them. */
export type FactMark = "good" | "bad" | "waits" | "reused" | "sealed" | "restart" | SessionStatus;

/** How a public fact reads, wherever it is shown. */
export interface Wording<Body> {
  /** A verb phrase whose subject is the fact's place. Times and durations are left to renderers. */
  readonly sentence: (fact: Body) => string;
  readonly mark?: (fact: Body) => FactMark | null;
  /** The filter "transitions" shows it. */
  readonly isTransition?: true;
  /** The filter "failures" shows it. */
  readonly isFailure?: (fact: Body) => boolean;
  /** The attempt that it belongs to has ended: its files, steps and result are final. */
  readonly endsAttempt?: true;
  /** A process drives the session from here on. */
  readonly beginsDrive?: true;
  /** The drive before it is over: the session rests, or has stopped. */
  readonly endsDrive?: true;
  /** A terminal prints no line for it. */
  readonly isQuiet?: (fact: Body) => boolean;
}

type Of<Row> = Row & { readonly kind: string };

/** One kind of journal row: everything that the rest of Maestro knows about it. */
export interface EventDefinition<Row extends object, Body extends object> extends Wording<Body> {
  /** Its fields; rows from outside are checked against them. */
  readonly row: Schema<Row>;
  /** The state after the row. */
  readonly reduce: (state: SessionState, entry: Of<Row>, row: RowPlace) => SessionState;
  readonly listed?: (entry: Of<Row>) => Listed | undefined;
  /** How the session's row in lists changes. Undefined: not at all. The first row makes the card. */
  readonly card?: (
    card: SessionCard | undefined,
    entry: Of<Row>,
    row: Pick<RowPlace, "seq">,
  ) => Partial<SessionCard> | undefined;
  /** Of the first row of a session, which makes its card: the text, beside its names, that searches match. */
  readonly searchText?: (entry: Of<Row>) => string;
  /** Its public fact: short values only; results, files and definitions stay in the journal. */
  readonly fact: (entry: Of<Row>, context: FactContext) => Body;
}

/** Infers the type of the row from its schema, and that of the fact from `fact`. */
export const event = <Row extends object, Body extends object>(
  definition: EventDefinition<Row, Body>,
): EventDefinition<Row, Body> => definition;

/** The kind says it all. */
export const nothing = (): object => ({});

export const always = (): true => true;

const mostTextLength = 500;

/** A text as public facts have it. */
export const shorten = (text: string): string =>
  text.length <= mostTextLength ? text : `${text.slice(0, mostTextLength).toWellFormed()}…`;
