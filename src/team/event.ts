import type { OfAttempt, RecordedRow, StepKind, Transition, Wait } from "../domain/journal.ts";
import { decodeTransition, isStep, parseBody } from "../domain/journal-codec.ts";
import type { SessionState } from "../domain/session-state.ts";

/** What watchers see: journal rows as they commit, by seq, and unrecorded log lines. */
export type SessionEvent =
  | ({ readonly sessionId: string; readonly seq: number; readonly at: number } & (Transition | StepEvent))
  | { readonly kind: "log"; readonly sessionId: string; readonly persona: string; readonly message: string }
  /** An effect is under way; not recorded, because only what came of it counts. */
  | {
      readonly kind: "step.began";
      readonly sessionId: string;
      readonly persona: string;
      readonly step: StepKind;
      readonly name: string;
      readonly at: number;
    }
  /** What a model says while it says it; the recorded step replaces it. */
  | { readonly kind: "text"; readonly sessionId: string; readonly persona: string; readonly delta: string };

/** Steps are announced by name; results can be large and stay in the journal. */
export interface StepEvent extends OfAttempt {
  readonly kind: "step" | "wait";
  readonly name: string;
  /** Of a wait: when it is over. */
  readonly until?: number;
}

export function describeRow(state: SessionState, row: RecordedRow): SessionEvent {
  const { seq, at } = row;
  const sessionId = state.id;
  if (isStep(row)) {
    const started = row.attempt as number;
    const of = state.running.get(started)?.attempt;
    const { wait } = (row.kind === "step.wait" ? parseBody(row.body) : {}) as { readonly wait?: Wait };
    return {
      sessionId,
      seq,
      at,
      kind: row.kind === "step.wait" ? "wait" : "step",
      started,
      phase: of?.phase ?? "",
      persona: of?.persona ?? "",
      name: row.name ?? "",
      ...(wait !== undefined && { until: wait.notBefore }),
    };
  }
  return { sessionId, seq, at, ...decodeTransition(row) };
}
