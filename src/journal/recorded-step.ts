import type { StepKind } from "./journal.ts";
import type { CachedBody } from "./step-body-cache.ts";

export interface StepIdentity {
  readonly fingerprint: string;
  readonly occurrence: number;
}

/** A recorded step, as its attempt looks for it on replay. */
export interface RecordedStep extends CachedBody, StepIdentity {
  readonly seq: number;
  readonly attempt: number;
  /** The epoch of the driver that recorded it. */
  readonly epoch: number;
  readonly kind: string;
  /** A step with changed input still shares kind and name with its record. */
  readonly name: string;
  /** It ended in an outage: an attempt that inherits it runs it again. */
  readonly outage: boolean;
  used: boolean;
}

/** A table, because joining two texts for each step costs more than a lookup. */
export const stepRowKinds = {
  function: "step.function",
  wait: "step.wait",
  model: "step.model",
  tool: "step.tool",
  command: "step.command",
  check: "step.check",
  heal: "step.heal",
} as const satisfies { readonly [Kind in StepKind]: `step.${Kind}` };
