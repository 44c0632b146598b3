import type { UsageReport } from "../../index.ts";
import type { StepKind } from "../../journal/journal.ts";
import { noProgress, type SessionProgress } from "../../journal/progress.ts";

/** The activity of a persona between two recorded facts. */
export interface LiveActivity {
  readonly text: string;
  /** The effect that is running. */
  readonly doing: { readonly step: StepKind; readonly since: number } | undefined;
}

/** A session as the terminal shows it. */
export interface LiveSession {
  readonly id: string;
  readonly progress: SessionProgress;
  /** Keyed by persona, because live events do not name the phase. */
  readonly live: ReadonlyMap<string, LiveActivity>;
  readonly usage: UsageReport | undefined;
  /** The effect of Ctrl-C here. */
  readonly hint: string;
}

export const newLiveSession = (id: string): LiveSession => ({
  id,
  progress: noProgress,
  live: new Map(),
  usage: undefined,
  hint: "Ctrl-C stops cleanly",
});
