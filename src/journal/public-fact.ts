import type { RowFacts } from "./events.ts";
import type { StepKind } from "./row.ts";

export type { FactMark } from "./events/define.ts";
export type { FailedFact } from "./events/failed.ts";
export type { GateFact } from "./events/phase.ts";
export type { PlannedFact } from "./planned.ts";

/** The place and time of a fact. Null if the fact concerns the whole session or a whole phase. */
export interface FactPlace {
  readonly seq: number;
  readonly at: string;
  readonly phase: string | null;
  readonly persona: string | null;
  readonly round: number | null;
  readonly attempt: number | null;
  /** The seq of the attempt's first row, which identifies it. */
  readonly started: number | null;
}

/** One journal row for the outside: in the HTTP event streams, in `watch --json` and on the page. */
export type PublicFact = FactPlace & Fact;

export type Fact = { [Kind in FactKind]: { readonly kind: Kind } & FactBodies[Kind] }[FactKind];
export type FactKind = keyof FactBodies;
export type FactOf<Kind extends FactKind> = Extract<Fact, { readonly kind: Kind }>;

/** Rows have the facts that their kinds declare. */
export type FactBodies = RowFacts & OtherFacts;

export interface OtherFacts {
  step: {
    readonly step: StepKind;
    readonly name: string;
    readonly passed: boolean;
    readonly outcome: string;
    readonly tookMs: number | null;
    /** For a wait: its end. */
    readonly until: string | null;
  };
  /** These two facts about money come from the ledger instead of rows. */
  "budget.reserved": { readonly call: string; readonly usd: number | null; readonly tokens: number };
  "budget.settled": {
    readonly call: string;
    readonly usd: number | null;
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly estimated: boolean;
    readonly tookMs: number;
  };
}

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
  /** A piece of a model's answer while it streams. The recorded step replaces it. */
  | { readonly kind: "text"; readonly sessionId: string; readonly persona: string; readonly delta: string };

export const isRecorded = (event: SessionEvent): event is Exclude<SessionEvent, LiveEvent> => "seq" in event;
