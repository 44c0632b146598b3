import type { Clock } from "../domain/clock.ts";
import type { RetryPolicies } from "../journal/after-failure.ts";
import type { StepKind } from "../journal/journal.ts";
import type { Blobs } from "../store/blobs.ts";
import type { SessionJournal } from "../store/session-journal.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import type { Control } from "./control.ts";
import type { SandboxChecks } from "./sandbox-checks.ts";
import type { SessionSpending } from "./spending.ts";

/** One drive of one session: what all of its attempts share. Made once, and passed down whole. */
export interface Drive {
  readonly journal: SessionJournal;
  readonly artifacts: Blobs;
  readonly control: Control;
  readonly clock: Clock;
  readonly breaker: CircuitBreaker;
  readonly spending: SessionSpending;
  readonly policies: RetryPolicies;
  readonly checks: Pick<SandboxChecks, "judgeFiles" | "run">;
  /** Runs a program of the project, such as its formatter, on the files. */
  readonly runTool: (
    workspace: Workspace,
    argv: readonly string[],
    signal: AbortSignal,
  ) => Promise<{ exitCode: number | null }>;
  readonly log: (persona: string, message: string) => void;
  /** Live text of a model or an agent; not recorded. */
  readonly onText: (persona: string, delta: string) => void;
  /** An effect begins; not recorded. */
  readonly onStep?: ((persona: string, step: StepKind, name: string) => void) | undefined;
}
