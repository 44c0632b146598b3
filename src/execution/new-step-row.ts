import type { StepKind, StepRow } from "../domain/journal.ts";
import { stepRowKinds } from "../domain/recorded-step.ts";
import type { StepIdentity } from "./step-identity.ts";

/**
 * A step to be recorded. An instance and no literal, as is all that holds the result of a step while that waits for the
 * disk: literals of which V8 once saw many live long it puts among the old objects at once, where each keeps its result
 * in memory long after the step, and every small collection carries that along.
 */
export class NewStepRow implements StepRow {
  readonly kind: StepRow["kind"];
  readonly attempt: number;
  readonly name: string;
  readonly fingerprint: string;
  readonly occurrence: number;
  readonly body: string;

  constructor(kind: StepKind, attempt: number, name: string, identity: StepIdentity, body: string) {
    this.kind = stepRowKinds[kind];
    this.attempt = attempt;
    this.name = name;
    this.fingerprint = identity.fingerprint;
    this.occurrence = identity.occurrence;
    this.body = body;
  }
}
