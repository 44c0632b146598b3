import { isoTime } from "../domain/iso-time.ts";
import type { Json } from "../domain/json.ts";
import { redactJson } from "../domain/redact.ts";
import { unsettledIn } from "./effect.ts";
import { awaiting } from "./reset-phase.ts";
import type { SessionState } from "./session-state.ts";
import { finalStatuses, type SessionStatus } from "./standing.ts";
import { unansweredIn, type WaitingKind } from "./waiting-call.ts";

export interface EffectView {
  /** The row of its intent, which `settle` takes. */
  readonly seq: number;
  readonly name: string;
  readonly state: "happened" | "unknown";
  /** The time when it began. */
  readonly at: string;
  readonly phase: string;
  readonly persona: string;
  /** Details of an unknown outcome. */
  readonly because: string | null;
}

export interface WaitingView {
  readonly seq: number;
  readonly kind: "phase" | "effect" | WaitingKind;
  /** Null if a whole phase waits. */
  readonly persona: string | null;
  /** The phase, the call of the effect, or the tool with its arguments. */
  readonly call: Json;
}

export function effectsIn({ effects }: SessionState): readonly EffectView[] {
  return [...effects.values()].flatMap(({ seq, name, at, phase, persona, outcome }): EffectView[] => {
    if (outcome.kind === "did-not-happen") return [];
    const state = outcome.kind === "happened" ? "happened" : "unknown";
    const because = outcome.kind === "unknown" ? outcome.because : null;
    return [{ seq, name, state, at: isoTime(at), phase, persona, because }];
  });
}

/** In these statuses a person cannot help, or the driver may still settle an effect. */
const silent: readonly SessionStatus[] = ["queued", "running", "completed", "canceled"];

export function waitingIn(state: SessionState): readonly WaitingView[] {
  const { status } = state.standing;
  // A call can be answered while its driver lives.
  const calls = finalStatuses.includes(status)
    ? []
    : unansweredIn(state).map(
        ({ seq, asks, persona, call }): WaitingView => ({ seq, kind: asks, persona, call: redactJson(call) }),
      );
  if (silent.includes(status)) return calls;
  const phases = awaiting(state).map(
    ([name, { revision }]): WaitingView => ({
      seq: state.seals.get(`${name} ${revision}`)?.head.seq ?? state.head.seq,
      kind: "phase",
      persona: null,
      call: { phase: name },
    }),
  );
  const effects = unsettledIn(state.effects).map(
    ({ seq, persona, name, call }): WaitingView => ({
      seq,
      kind: "effect",
      persona,
      call: redactJson({ name, ...(call !== undefined && { call }) }),
    }),
  );
  return [...phases, ...calls, ...effects];
}
