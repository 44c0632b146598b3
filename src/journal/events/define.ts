import type { RecordedRow } from "../row.ts";
import type { Schema } from "../schema.ts";
import type { SessionCard } from "../session-card.ts";
import type { SessionState } from "../session-state.ts";
import type { SessionStatus, Standing } from "../standing.ts";

/** The position of a row. */
export interface RowPlace extends Pick<RecordedRow, "seq" | "at" | "hash" | "epoch"> {
  /** Digest of all transition rows up to it. */
  readonly transitions: string;
}

/** Session columns that stores index, changed in the transaction of the row. */
export interface Listed {
  readonly standing?: Standing;
  readonly teamFingerprint?: string;
}

export interface FactContext {
  readonly at: number;
  readonly epoch: number;
  /** When the row's attempt began. */
  readonly startedAt: number | undefined;
}

export interface Said {
  readonly action: string;
  readonly text: string;
  /** The name of the person. */
  readonly by?: string;
}

/** How a list marks a fact. */
export type FactMark = "good" | "bad" | "waits" | "reused" | "sealed" | "restart" | SessionStatus;

/** The wording of a public fact, used everywhere. */
export interface Wording<Body> {
  /** A verb phrase whose subject is the fact's place. Renderers add times and durations. */
  readonly sentence: (fact: Body) => string;
  /** For logs: without the text of people, models and programs. "sentence": the sentence has none. */
  readonly logged: "sentence" | ((fact: Body) => string);
  readonly mark?: (fact: Body) => FactMark | null;
  /** Shown by the filter "transitions". */
  readonly isTransition?: true;
  /** Shown by the filter "failures". */
  readonly isFailure?: (fact: Body) => boolean;
  /** The fact's attempt has ended: its files, steps and result are final. */
  readonly endsAttempt?: true;
  /** A process drives the session from here on. */
  readonly beginsDrive?: true;
  /** The drive has ended: the session rests or has stopped. */
  readonly endsDrive?: true;
  /** A terminal prints no line for it. */
  readonly isQuiet?: (fact: Body) => boolean;
}

type Of<Row> = Row & { readonly kind: string };

/** One kind of journal row, with everything that the rest of Maestro needs to know. */
export interface EventDefinition<Row extends object, Body extends object> extends Wording<Body> {
  /** Its fields. Rows from outside are checked against them. */
  readonly row: Schema<Row>;
  /** Returns the state after the row. */
  readonly reduce: (state: SessionState, entry: Of<Row>, row: RowPlace) => SessionState;
  readonly listed?: (entry: Of<Row>) => Listed | undefined;
  /** Returns the changed list row. Undefined: unchanged. The first row creates the card. */
  readonly card?: (
    card: SessionCard | undefined,
    entry: Of<Row>,
    row: Pick<RowPlace, "seq">,
  ) => Partial<SessionCard> | undefined;
  /** The whole text of a person's act. Undefined if no person acted. */
  readonly said?: (entry: Of<Row>) => Said | undefined;
  /** For the first row of a session, which creates its card: additional text that searches match. */
  readonly searchText?: (entry: Of<Row>) => string;
  /** Its public fact, with short values only. Results, files and definitions stay in the journal. */
  readonly fact: (entry: Of<Row>, context: FactContext) => Body;
}

/** Infers the type of the row from its schema, and the type of the fact from `fact`. */
export const event = <Row extends object, Body extends object>(
  definition: EventDefinition<Row, Body>,
): EventDefinition<Row, Body> => definition;

/** For kinds without data. */
export const nothing = (): object => ({});

export const always = (): true => true;

const mostTextLength = 500;

/** Text in the length that public facts allow. */
export const shorten = (text: string): string =>
  text.length <= mostTextLength ? text : `${text.slice(0, mostTextLength).toWellFormed()}…`;
