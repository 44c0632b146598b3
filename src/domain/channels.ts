/** Names of node:diagnostics_channel on which parts say what they measure; free while nobody listens. */
export const commitChannel = "maestro:commit";

/** From handing a write over to its commit. */
export interface CommitMeasured {
  readonly verb: string;
  readonly durationMs: number;
}
