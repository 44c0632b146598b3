import { attemptEvents } from "./events/attempt.ts";
import { baselineEvents } from "./events/baseline.ts";
import type { EventDefinition } from "./events/define.ts";
import { effectEvents } from "./events/effect.ts";
import { noteEvents } from "./events/note.ts";
import { phaseEvents } from "./events/phase.ts";
import { sessionEvents } from "./events/session.ts";
import { setupEvents } from "./events/setup.ts";
import { teamEvents } from "./events/team.ts";
import { waitingEvents } from "./events/waiting.ts";

/** Every kind of transition row, declared once. Steps are rows with their own shape, see `StepRow`. */
export const events = {
  ...sessionEvents,
  ...setupEvents,
  ...teamEvents,
  ...baselineEvents,
  ...phaseEvents,
  ...attemptEvents,
  ...effectEvents,
  ...waitingEvents,
  ...noteEvents,
};

export type TransitionKind = keyof typeof events;

type RowOf<Kind extends TransitionKind> =
  (typeof events)[Kind] extends EventDefinition<infer Row, infer _> ? Row : never;

export type TransitionOf<Kind extends TransitionKind> = { readonly kind: Kind } & RowOf<Kind>;

/** Everything that can happen to a session, one journal row each. */
export type Transition = { [Kind in TransitionKind]: TransitionOf<Kind> }[TransitionKind];

/** The public facts of rows, as their kinds declare them. */
export type RowFacts = { [Kind in TransitionKind]: ReturnType<(typeof events)[Kind]["fact"]> };

export type AnyEvent = EventDefinition<object, object>;

/** Undefined for a kind that this version does not know. */
export const eventOf = (kind: string): AnyEvent | undefined =>
  Object.hasOwn(events, kind) ? (events[kind as TransitionKind] as unknown as AnyEvent) : undefined;
