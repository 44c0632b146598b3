import { attemptEvents } from "./events/attempt.ts";
import type { Events, TransitionKind } from "./events/define.ts";
import { phaseEvents } from "./events/phase.ts";
import { sessionEvents } from "./events/session.ts";

/** Every kind of transition row, declared once. Steps are rows of their own shape, see `StepRow`. */
export const events: Events<TransitionKind> = { ...sessionEvents, ...phaseEvents, ...attemptEvents };
