/** A step on record, as its attempt looks for it when it runs again. */
export interface RecordedStep {
  readonly seq: number;
  readonly position: number;
  /** Which driver recorded it. */
  readonly epoch: number;
  /** Kind and name: what a step whose input changed still has in common with its record. */
  readonly title: string;
  readonly fingerprint: string;
  /** Its dependency failed it: whoever inherits the steps runs it again. */
  readonly outage: boolean;
  used: boolean;
}
