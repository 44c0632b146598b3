/** A setup that ended. */
export interface SetupState {
  readonly key: string;
  readonly run: readonly string[];
  readonly foundBy?: string;
  readonly scripts: "on" | "off";
  readonly outcome: "prepared" | "reused" | "failed";
  readonly durationMs: number;
  readonly output?: string;
  readonly at: number;
}
