import type { StepKind } from "./journal.ts";
import type { Keeps } from "./kept-bodies.ts";

/** A step on record, as its attempt looks for it when it runs again. */
export interface RecordedStep extends Keeps {
  readonly seq: number;
  readonly position: number;
  /** Which driver recorded it. */
  readonly epoch: number;
  /** Kind and name are what a step whose input changed still has in common with its record. */
  readonly kind: string;
  readonly name: string;
  readonly fingerprint: string;
  /** Its dependency failed it: whoever inherits the steps runs it again. */
  readonly outage: boolean;
  used: boolean;
}

/** How rows name the kinds; a table, because joining two texts for each step costs more than looking one up. */
export const stepRowKinds = {
  function: "step.function",
  wait: "step.wait",
  model: "step.model",
  tool: "step.tool",
  command: "step.command",
  check: "step.check",
  heal: "step.heal",
} as const satisfies { readonly [Kind in StepKind]: `step.${Kind}` };
