import type { Failure, FailureCategory, GateView, Range, Usage } from "./types-values.ts";

export type SessionStatus = "queued" | "running" | "paused" | "parked" | "completed" | "failed" | "canceled";
export type ParkReason = "review" | "help" | "budget" | "breaker";
export type RunStatus = "pending" | "running" | "completed" | "failed" | "skipped" | "reused";
export type AttemptStatus = "running" | "completed" | "failed";

/** What holds up a persona that is still running. It goes on by itself. */
export type Held =
  | { readonly kind: "retry"; readonly notBefore: string; readonly because: string }
  | { readonly kind: "breaker"; readonly dependency: string; readonly probeAt: string | null }
  | { readonly kind: "rate-limit"; readonly dependency: string; readonly notBefore: string }
  /** Only open reservations of others stand in the way. */
  | { readonly kind: "reservation"; readonly level: string };

export type Doing =
  | "thinks"
  | "reads"
  | "lists"
  | "searches"
  | "edits"
  | "writes"
  | "checks"
  | "decides"
  | "submits"
  | "runs";

/** What a persona does now, from its last recorded or running step. */
export interface Activity {
  readonly doing: Doing;
  /** A path, a check's name, a step's name. */
  readonly target: string | null;
  readonly since: string;
}

/** Where a session stands, as facts; the page makes the sentences. One shape per status and reason. */
export type Situation =
  | { readonly kind: "queued"; readonly ahead: number; readonly places: number; readonly inUse: number }
  | {
      readonly kind: "running";
      readonly phases: readonly string[];
      /** The most recent activity of a persona that is not held up. */
      readonly latest: { readonly persona: string; readonly activity: Activity } | null;
      readonly held: readonly { readonly persona: string; readonly held: Held }[];
      /** No process drives it: its driver died and nobody has taken it up yet. */
      readonly driverDied: boolean;
    }
  | {
      readonly kind: "paused";
      /** The last completed phase. */
      readonly after: string | null;
      readonly how: "asked" | "until" | "only" | "pause-after" | "interrupted";
    }
  | {
      readonly kind: "review";
      readonly phase: string;
      readonly gate: GateView | null;
      readonly filesChanged: number;
      /** The phases that run once it is approved. */
      readonly next: readonly string[];
    }
  | {
      readonly kind: "help";
      readonly phase: string;
      readonly persona: string;
      /** The check that failed last, where it was a check. */
      readonly check: string | null;
      readonly message: string;
      readonly attempts: number;
      readonly maxAttempts: number;
    }
  | {
      readonly kind: "budget";
      /** "session", "day", "phase implementation", "persona implementation/qa_engineer" */
      readonly level: string;
      readonly unit: "usd" | "tokens";
      readonly asked: number;
      readonly used: number;
      readonly limit: number;
      readonly phase: string | null;
      readonly persona: string | null;
      readonly attempt: number | null;
    }
  | {
      readonly kind: "breaker";
      readonly dependency: string;
      readonly openedAt: string;
      readonly failedProbes: number;
      /** When it is taken up again by itself. */
      readonly wakeAt: string | null;
    }
  | {
      readonly kind: "completed";
      readonly gatesPassed: number;
      readonly gates: number;
      readonly unverified: readonly string[];
      readonly resumes: number;
    }
  | {
      readonly kind: "failed";
      readonly phase: string | null;
      readonly message: string;
      readonly gate: GateView | null;
      /** It can be resumed when the changes are accepted. */
      readonly acceptChanges: boolean;
    }
  | { readonly kind: "canceled"; readonly after: string | null; readonly checkpoints: number };

/**
 * `GET /v1/sessions?status=&q=&team=&since=&cursor=&limit=`; `status` takes several, separated by commas;
 * server adds `status=retrying`: running, and some persona is held up.
 */
export interface SessionsPage {
  readonly sessions: readonly SessionRow[];
  /** Pass it as `cursor` for the next page; null at the end. */
  readonly cursor: string | null;
  /** server adds: the journal's position that the page shows; `/v1/events?after=` goes on from it. */
  readonly position: string;
  /** server adds: sessions that match all filters. */
  readonly total: number;
  /** server adds: per view, with the same `q`, `team` and `since`, whatever `status` is. */
  readonly counts: ViewCounts;
}

export interface ViewCounts {
  readonly parked: number;
  readonly active: number;
  readonly finished: number;
  readonly retrying: number;
  readonly failed: number;
}

/** A row of `sessions --json`. Parked: newest parked first; active: newest created; finished: newest ended. */
export interface SessionRow {
  readonly id: string;
  readonly key: string | null;
  readonly team: string;
  readonly status: SessionStatus;
  readonly reason: ParkReason | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly usage: Usage;
  /** server adds: the first 200 characters. */
  readonly brief: string;
  /** server adds: the model is the simulated one. */
  readonly simulated: boolean;
  /** server adds: when the present status began. */
  readonly since: string;
  /** server adds */
  readonly situation: Situation;
  /** server adds: in the team's order; at most 40, the rest are counted in `phaseCount`. */
  readonly phases: readonly { readonly name: string; readonly status: RunStatus }[];
  /** server adds */
  readonly phaseCount: number;
  /** server adds: the session's dollar limit, or its token limit where there is no dollar limit. */
  readonly limitUsd: number | null;
  readonly limitTokens: number | null;
  /** server adds */
  readonly forkOf: ForkOrigin | null;
}

export interface ForkOrigin {
  readonly id: string;
  readonly key: string | null;
  readonly at: string;
}

/** `GET /v1/sessions/:id`: `show --json` and what the page adds. */
export interface SessionView extends SessionHeader {
  readonly phases: readonly PhaseView[];
  readonly budgets: readonly BudgetView[];
  readonly decisions: readonly Decision[];
  readonly artifacts: readonly ArtifactFile[];
}

/** What changes while a session runs, but for its phases and personas. */
export interface SessionHeader extends Omit<SessionRow, "phases" | "phaseCount"> {
  /** In full here. */
  readonly brief: string;
  readonly model: string | null;
  readonly ticket: TicketView | null;
  /** All of the last time that it asked for help. */
  readonly tickets: readonly TicketView[];
  /** server adds: the driver's epoch. */
  readonly epoch: number;
  /** server adds: the journal's last seq, and whether its chain was verified. */
  readonly entries: number;
  readonly chainVerified: boolean;
  /** server adds: reserved for calls under way. */
  readonly reservedUsd: number | null;
  /** server adds: times at which a driver took it over after an unclean end; the newest 20. */
  readonly restarts: readonly string[];
  /** server adds */
  readonly teamFile: string | null;
  /** server adds: why it stopped, when parked for help or failed. */
  readonly stop: StopReport | null;
  /** server adds: what waits to be reviewed. */
  readonly review: Review | null;
  /** server adds: what is left may cost this much. */
  readonly forecast: Range | null;
}

/** A phase without its personas. */
export interface PhaseHeader {
  readonly name: string;
  readonly status: RunStatus;
  readonly gate: GateView | null;
  readonly checkpoint: CheckpointMark | null;
  /** server adds */
  readonly dependsOn: readonly string[];
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly costUsd: number | null;
  /** server adds: personas at once. */
  readonly concurrency: number;
}

export interface PhaseView extends PhaseHeader {
  readonly personas: readonly PersonaView[];
}

export interface CheckpointMark {
  readonly revision: number;
  readonly sha256: string;
  /** server adds */
  readonly sealedAt: string;
  readonly valid: boolean;
}

export interface PersonaView {
  readonly name: string;
  readonly status: RunStatus;
  readonly round: number;
  readonly attempt: number;
  readonly attempts: readonly AttemptView[];
  readonly usage: Usage;
  /** server adds */
  readonly maxAttempts: number;
  readonly maxRounds: number;
  readonly summary: string | null;
  readonly activity: Activity | null;
  readonly held: Held | null;
  readonly files: number;
}

export interface AttemptView {
  readonly round: number;
  readonly attempt: number;
  readonly status: AttemptStatus;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly failure: Failure | null;
  /** server adds */
  readonly costUsd: number | null;
  readonly addedLines: number | null;
  readonly removedLines: number | null;
  /** server adds: passed after the healer's action. */
  readonly healed: boolean;
  /** server adds: waits for a breaker inside the attempt. */
  readonly waits: readonly {
    readonly dependency: string;
    readonly from: string;
    readonly until: string | null;
  }[];
  /** server adds: offsets of steps from the start, in ms; at most 200 of both, left out (empty) in huge phases. */
  readonly modelSteps: readonly number[];
  readonly toolSteps: readonly number[];
}

export interface BudgetView {
  /** "session", "day", "phase", "persona" */
  readonly level: "session" | "day" | "phase" | "persona";
  readonly phase: string | null;
  readonly persona: string | null;
  readonly limitUsd: number | null;
  readonly usedUsd: number | null;
  readonly reservedUsd: number | null;
  readonly limitTokens: number | null;
  readonly usedTokens: number;
  readonly reservedTokens: number;
  /** server adds: where spending is likely to end. */
  readonly forecastUsd: number | null;
}

export interface Decision {
  readonly choice: string;
  readonly reason: string;
  readonly rejected: readonly { readonly choice: string; readonly reason: string }[];
  readonly phase: string;
  readonly persona: string;
  readonly at: string;
}

export interface ArtifactFile {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly persona: string | null;
  readonly phase: string | null;
}

export interface TicketView {
  readonly fingerprint: string;
  readonly summary: string;
  readonly status: "pending" | "posting" | "delivered";
  readonly key: string | null;
  readonly url: string | null;
  /** Why it is not there yet, and when it is tried again. */
  readonly lastError: string | null;
  readonly notBefore: string | null;
  /** server adds */
  readonly at: string;
}

/** server adds. Fields that nobody stated are null; the page leaves them out. */
export interface StopReport {
  readonly phase: string | null;
  readonly persona: string | null;
  readonly category: FailureCategory;
  readonly recoverable: boolean;
  /** How many of the attempts ended with the same failure. */
  readonly sameFailure: { readonly count: number; readonly of: number } | null;
  /** About ten lines around the error. */
  readonly output: FailureOutput | null;
  readonly meaning: { readonly text: string; readonly by: string } | null;
  readonly suggestedFix: { readonly text: string; readonly by: string } | null;
  readonly suggestedEdit: SuggestedEdit | null;
  /** Personas of unfinished phases whose results are kept. */
  readonly keptPersonas: number;
}

export interface FailureOutput {
  readonly command: string;
  readonly exitCode: number | null;
  readonly round: number;
  readonly attempt: number;
  readonly durationMs: number;
  readonly lines: readonly { readonly number: number; readonly text: string; readonly marked: boolean }[];
  readonly totalLines: number;
  /** The whole output, as an artifact. */
  readonly sha256: string | null;
}

export interface SuggestedEdit {
  readonly phase: string;
  readonly path: string;
  /** The file as it is now. */
  readonly sha256: string;
  readonly edits: readonly { readonly find: string; readonly replace: string }[];
  readonly by: string;
}

/** server adds. */
export interface Review {
  readonly phase: string;
  readonly revision: number;
  readonly gate: GateView | null;
  readonly checks: readonly CheckResult[];
  readonly files: readonly ChangedFile[];
}

export interface ChangedFile {
  readonly path: string;
  readonly addedLines: number | null;
  readonly removedLines: number | null;
  /** null: the file was not there, or is gone. */
  readonly before: string | null;
  readonly after: string | null;
  readonly bytes: number;
}

export interface CheckResult {
  readonly kind: "deliverable" | "schema" | "command";
  readonly name: string;
  readonly status: "passed" | "failed" | "not-run";
  readonly must: boolean;
  readonly weight: number;
  readonly message: string;
}

/** `GET /v1/sessions/:id/checkpoints`, each file verified as it is read. */
export interface CheckpointInfo {
  readonly phase: string;
  readonly revision: number;
  readonly file: string;
  readonly sha256: string | null;
  readonly createdAt: string | null;
  readonly valid: boolean;
  readonly awaitingReview: boolean;
  readonly problem: string | null;
}
