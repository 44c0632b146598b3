/** Values that several routes share. */

export interface Usage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  /** null: the price of a model is not known. */
  readonly costUsd: number | null;
  readonly calls: number;
  readonly estimatedTokens: number;
  readonly estimatedUsd: number;
  readonly savedTokens: number;
  readonly savedUsd: number | null;
}

/** Dollars, from what is likely at least to what is possible at most. */
export interface Range {
  readonly lowUsd: number;
  readonly highUsd: number;
}

export interface GateView {
  readonly threshold: number | null;
  readonly score: number | null;
  /** null: not judged yet. */
  readonly verdict: "passed" | "failed" | "unverified" | null;
}

export type FailureCategory =
  | "SYNTAX"
  | "TYPE"
  | "IMPORT"
  | "TEST_FAILURE"
  | "CONTRACT"
  | "ARCHITECTURE"
  | "TIMEOUT"
  | "API_ERROR"
  | "RATE_LIMIT"
  | "AUTH"
  | "RESOURCE"
  | "BUDGET"
  | "GOVERNANCE"
  | "UNKNOWN";

export interface Failure {
  readonly category: FailureCategory;
  readonly severity: "critical" | "high" | "medium" | "low";
  /** One line. */
  readonly message: string;
  readonly details?: string;
  readonly file?: string;
  readonly line?: number;
  readonly code?: string;
  /** The reader that found it: a check's name, or "error". */
  readonly source: string;
  readonly recoverable: boolean;
  readonly outage: boolean;
  readonly suggestedFix: string;
}
