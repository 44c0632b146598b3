/** Diagnostics channels that publish measurements. They cost nothing without a subscriber. */
export const commitChannel = "maestro:commit";

/** The time from submitting a write to its commit. */
export interface CommitMeasured {
  readonly verb: string;
  readonly durationMs: number;
}
