import type { StepKind } from "./journal.ts";
import type { PublicFact } from "./public-fact.ts";

/** Watchers receive the fact of each row when it commits, and live events that are never recorded. */
export type SessionEvent = ({ readonly sessionId: string } & PublicFact) | LiveEvent;

export type LiveEvent =
  | { readonly kind: "log"; readonly sessionId: string; readonly persona: string; readonly message: string }
  /** An effect began. Only its outcome is recorded. */
  | {
      readonly kind: "step.began";
      readonly sessionId: string;
      readonly persona: string;
      readonly step: StepKind;
      readonly name: string;
      readonly at: string;
    }
  /** A piece of a model's answer while it streams; the recorded step replaces it. */
  | { readonly kind: "text"; readonly sessionId: string; readonly persona: string; readonly delta: string };

export const isRecorded = (event: SessionEvent): event is Exclude<SessionEvent, LiveEvent> => "seq" in event;
