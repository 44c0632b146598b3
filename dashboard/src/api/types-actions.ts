import type { Range } from "./types-values.ts";

/** `{"outputs": {...}, "files": {"path": "content"}}`, as in `--edit phase=file`. */
export interface PhaseEdit {
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly files?: Readonly<Record<string, string>>;
}

export type Edits = Readonly<Record<string, PhaseEdit>>;

/** `POST /v1/sessions`, answered with 201 and a `SessionRef`. */
export interface StartRequest {
  readonly team: string;
  readonly brief: string;
  readonly key?: string;
  readonly model?: string;
  readonly budget?: { readonly usd?: number; readonly tokens?: number };
  readonly pauseAfter?: readonly string[];
}

export interface SessionRef {
  readonly id: string;
  readonly key: string | null;
}

/** `POST /v1/sessions/:id/resume`; with `dryRun: true` nothing happens and the answer is a `Plan`. */
export interface ResumeRequest {
  readonly edits?: Edits;
  readonly acceptChanges?: boolean;
  readonly dryRun?: boolean;
}

/** `POST /v1/sessions/:id/fork`: a `SessionRef` of the new session, or with `dryRun: true` a `Plan`. */
export interface ForkRequest {
  readonly at: string;
  readonly edits?: Edits;
  readonly fresh?: boolean;
  readonly dryRun?: boolean;
}

/** `POST /v1/sessions/:id/approve` and `/reject`. server adds `resume: true`: go on at once. */
export interface ReviewRequest {
  /** The one that is meant, when more than one waits. */
  readonly phase?: string;
  readonly note?: string;
  readonly resume?: boolean;
}

/** `PATCH /v1/sessions/:id/budgets`. server adds `resume: true`. Without persona and phase: the session's. */
export interface BudgetRequest {
  readonly persona?: string;
  readonly phase?: string;
  readonly usd?: number;
  readonly tokens?: number;
  readonly resume?: boolean;
}

/** What resume or fork would do. */
export interface Plan {
  readonly lines: readonly PlanLine[];
  readonly total: Range | null;
  /** The most likely total. */
  readonly expectedUsd: number | null;
  /** Left in the session's budget; null without a dollar limit. */
  readonly leftUsd: number | null;
  /** Everything would be reused. */
  readonly nothingRuns: boolean;
}

export interface PlanLine {
  readonly action: "reuse" | "run" | "then";
  readonly phases: readonly string[];
  readonly personas: readonly string[];
  /** For reused phases: when they were sealed. */
  readonly sealedAt: string | null;
  /** null: the price is not known. */
  readonly cost: Range | null;
}

/** Every error, `application/problem+json`. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  /** A sentence: what happened, to what. */
  readonly detail: string;
  /** Stable: LEASE_HELD, INPUT_INVALID, ... */
  readonly code: string;
  /** What to do. */
  readonly advice: string | null;
  readonly requestId: string;
  /** Field errors of a form: the request's key and a sentence. */
  readonly fields?: readonly { readonly field: string; readonly message: string }[];
}
