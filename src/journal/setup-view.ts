import { isoTime } from "../domain/iso-time.ts";
import type { SetupState } from "./setup-state.ts";

export interface SetupView {
  readonly run: readonly string[];
  readonly status: SetupState["outcome"];
  readonly scripts: SetupState["scripts"];
  /** The lockfile that it was derived from; null for a setup of the team. */
  readonly foundBy: string | null;
  readonly durationMs: number;
  /** The hash of its complete output. */
  readonly output: string | null;
  readonly endedAt: string;
}

export function describeSetup({
  run,
  outcome,
  scripts,
  foundBy,
  durationMs,
  output,
  at,
}: SetupState): SetupView {
  return {
    run,
    status: outcome,
    scripts,
    foundBy: foundBy ?? null,
    durationMs,
    output: output ?? null,
    endedAt: isoTime(at),
  };
}
