/** The diagnostics channels on which parts publish measurements; free without a subscriber. */
export const commitChannel = "maestro:commit";

/** From handing a write over to its commit. */
export interface CommitMeasured {
  readonly verb: string;
  readonly durationMs: number;
}
