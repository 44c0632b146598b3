import type { RecordedRow, Transition } from "../domain/journal.ts";
import { decodeTransition, isStep } from "../domain/journal-codec.ts";

/** What watchers see: journal rows as they commit, by seq, and unrecorded log lines. */
export type SessionEvent =
  | ({ readonly sessionId: string; readonly seq: number; readonly at: number } & (Transition | StepEvent))
  | { readonly kind: "log"; readonly sessionId: string; readonly persona: string; readonly message: string };

/** Steps are announced by name; results can be large and stay in the journal. */
export interface StepEvent {
  readonly kind: "step";
  readonly attempt: number;
  readonly name: string;
}

export function describeRow(sessionId: string, row: RecordedRow): SessionEvent {
  const { seq, at } = row;
  if (isStep(row))
    return { sessionId, seq, at, kind: "step", attempt: row.attempt as number, name: row.name as string };
  return { sessionId, seq, at, ...decodeTransition(row) };
}
