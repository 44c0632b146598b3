import type { DriveOptions } from "./drive.ts";

/** The flags of `maestro run`, as written. */
export interface RunOptions extends DriveOptions {
  readonly team?: string;
  readonly key?: string;
  readonly only?: string;
  readonly from?: string;
  readonly until?: string;
  readonly pauseAfter?: string;
  readonly given?: readonly string[];
  readonly budgetTokens?: string;
  readonly budgetUsd?: string;
  readonly detach?: boolean;
}
