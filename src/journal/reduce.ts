import { sha256 } from "../domain/canonical.ts";
import type { Listed } from "./events/define.ts";
import { eventOf } from "./events.ts";
import type { RecordedRow } from "./journal.ts";
import { decodeTransition, isStep, outageBody } from "./journal-codec.ts";
import type { SessionCard } from "./session-card.ts";
import type { SessionState } from "./session-state.ts";
import { withRunning } from "./update.ts";

/** The state after one more row: the same function for a live run, a replay, a restored session and a fork. */
export function reduce(state: SessionState, row: RecordedRow): SessionState {
  return isStep(row) ? reduceStep(state, row) : reduceTransition(state, row);
}

function reduceTransition(state: SessionState, row: RecordedRow): SessionState {
  const entry = decodeTransition(row);
  const event = eventOf(entry.kind);
  if (event === undefined)
    throw new Error(`the journal of session ${state.id} has a row of kind ${row.kind}`);
  const transitions = digestOf(state.transitions, row);
  const { seq, at, hash, epoch } = row;
  const reduced = event.reduce(state, entry, { seq, at, hash, epoch, transitions });
  return { ...reduced, ...advanced(state, row), transitions };
}

function reduceStep(state: SessionState, row: RecordedRow): SessionState {
  const moved = advanced(state, row);
  const running = state.running.get(row.attempt as number);
  // A copy from a fork's parent: no attempt of this session recorded it.
  if (running === undefined) return { ...state, ...moved };
  const stepped = { ...state, ...moved, stepCount: state.stepCount + 1, recoveries: 0 };
  const hasProgressed = running.hasProgressed || isProgress(row);
  if (hasProgressed === running.hasProgressed && running.waitsSince === undefined) return stepped;
  return withRunning(stepped, { ...running, hasProgressed, waitsSince: undefined });
}

/** Healing, checks, waits and outages are not progress of the work. */
const noProgress: ReadonlySet<string> = new Set(["step.heal", "step.check", "step.wait"]);
const isProgress = ({ kind, body }: RecordedRow): boolean =>
  !noProgress.has(kind) && !body.startsWith(outageBody);

/** Rows that show progress and reset `recoveries` to 0. */
export const provesLife = ({ kind, attempt }: Pick<RecordedRow, "kind" | "attempt">): boolean =>
  attempt !== null || kind === "attempt.completed" || kind === "checkpoint.sealed";

function advanced(state: SessionState, { seq, hash, epoch, at }: RecordedRow) {
  return {
    head: { seq, hash },
    epoch,
    updatedAt: at,
    inherited: epoch === state.epoch ? state.inherited : state.head,
  };
}

/** Covers the columns that a checkpoint stores of a row, without epoch and hash. */
export function digestOf(
  before: string,
  { seq, at, kind, body }: Pick<RecordedRow, "seq" | "at" | "kind" | "body">,
): string {
  return sha256(`${before} ${seq} ${at} ${kind} ${body}`);
}

/** The list row after one more row; undefined before the session's first row. */
export function reduceCard(
  card: SessionCard | undefined,
  row: Pick<RecordedRow, "seq" | "kind" | "body" | "attempt">,
): SessionCard | undefined {
  if (row.attempt !== null) return card;
  const event = eventOf(row.kind);
  // Most rows do not change the list row, and results can be large, so those rows are not parsed. Only a first row
  // creates one.
  if (event?.card === undefined || (card === undefined && event.searchText === undefined)) return card;
  const change = event.card(card, decodeTransition(row as RecordedRow), row);
  return change === undefined ? card : ({ ...card, ...change } as SessionCard);
}

/** The searchable text of a session's first row. */
export const searchTextOf = (row: Pick<RecordedRow, "kind" | "body">): string =>
  eventOf(row.kind)?.searchText?.(decodeTransition(row as RecordedRow)) ?? "";

/** The indexed columns after the row; undefined if unchanged. */
export function listedAfter(row: Pick<RecordedRow, "kind" | "body">): Listed | undefined {
  const event = eventOf(row.kind);
  return event?.listed?.(decodeTransition(row as RecordedRow));
}
