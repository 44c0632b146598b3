import type { RecordedRow, Transition } from "../journal.ts";
import type { SessionCard } from "../session-card.ts";
import type { SessionState } from "../session-state.ts";
import type { Standing } from "../standing.ts";

export type TransitionKind = Transition["kind"];
export type TransitionOf<Kind extends TransitionKind> = Extract<Transition, { readonly kind: Kind }>;

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

/** One kind of journal row. */
export interface EventDefinition<Kind extends TransitionKind> {
  /** The state after the row. */
  readonly reduce: (state: SessionState, entry: TransitionOf<Kind>, row: RowPlace) => SessionState;
  readonly listed?: (entry: TransitionOf<Kind>) => Listed | undefined;
  /** How the session's row in lists changes. Undefined: not at all. The first row makes the card. */
  readonly card?: (
    card: SessionCard | undefined,
    entry: TransitionOf<Kind>,
  ) => Partial<SessionCard> | undefined;
}

export type Events<Kind extends TransitionKind> = { readonly [K in Kind]: EventDefinition<K> };

/** Checks each definition against its kind. */
export function defineEvents<Kind extends TransitionKind>(events: Events<Kind>): Events<Kind> {
  return events;
}
