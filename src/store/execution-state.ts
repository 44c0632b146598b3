import { StateTooNew } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import { type JournalHead } from "../journal/journal.ts";
import { seal, unseal } from "../journal/seal.ts";
import type { SessionState } from "../journal/session-state.ts";
import { type ParkReason, reasonOf, type SessionStatus } from "../journal/standing.ts";

const format = 1;
export const executionStateFile = "execution_state.json";

/** A bounded summary for people and scripts that look at the disk. The journal remains the truth. */
export interface ExecutionState {
  readonly format: number;
  readonly sessionId: string;
  readonly status: SessionStatus;
  readonly reason: ParkReason | null;
  readonly phase: string | null;
  readonly phases: { readonly completed: number; readonly started: number };
  readonly personasCompleted: number;
  readonly steps: number;
  readonly epoch: number;
  readonly updatedAt: number;
  readonly journal: JournalHead;
}

export function projectExecutionState(state: SessionState): string {
  const phases = [...state.phases];
  const personas = phases.flatMap(([, phase]) => [...phase.personas.values()]);
  const summary: ExecutionState = {
    format,
    sessionId: state.id,
    status: state.standing.status,
    reason: reasonOf(state.standing) ?? null,
    phase: phases.findLast(([, phase]) => phase.status === "running")?.[0] ?? null,
    phases: {
      completed: phases.filter(([, phase]) => phase.status === "completed").length,
      started: phases.length,
    },
    personasCompleted: personas.filter((persona) => persona.result !== undefined).length,
    steps: state.stepCount,
    epoch: state.epoch,
    updatedAt: state.updatedAt,
    journal: { seq: state.head.seq, hash: state.head.hash },
  };
  return seal(summary as unknown as JsonObject);
}

export function readExecutionState(bytes: Uint8Array, what: string): ExecutionState {
  const { content } = unseal(bytes, what);
  const found = Number(content["format"]);
  if (found <= format) return content as unknown as ExecutionState;
  throw new StateTooNew(`${what} has format ${found}; this version of Maestro reads up to ${format}.`, {
    details: { what, found, known: format },
    advice: "Update maestro-hive. Nothing was written.",
  });
}
