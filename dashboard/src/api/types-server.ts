import type { ArtifactFile, ViewCounts } from "./types-session.ts";
import type { Range, Usage } from "./types-values.ts";

/** `GET /v1/status` */
export interface ServerStatus {
  readonly version: string;
  /** Differs after a restart. */
  readonly instance: string;
  readonly startedAt: string;
  /** "127.0.0.1:4160" */
  readonly address: string;
  readonly stateDirectory: string;
  readonly disk: { readonly stateBytes: number; readonly freeBytes: number; readonly totalBytes: number };
  readonly queue: { readonly running: number; readonly places: number; readonly waiting: number };
  readonly counts: ViewCounts;
  readonly breakersNotClosed: number;
  readonly spentTodayUsd: number | null;
  readonly savedTodayUsd: number | null;
}

/** `GET /v1/breakers` */
export interface BreakersView {
  readonly breakers: readonly BreakerView[];
}

export interface BreakerView {
  readonly name: string;
  readonly state: "closed" | "open" | "half-open";
  /** Consecutive outages while closed, or those that opened it. */
  readonly failures: number;
  readonly threshold: number;
  readonly openedAt: string | null;
  readonly probeAt: string | null;
  readonly failedProbes: number;
  /** From a rate limit, which is no outage. */
  readonly notBefore: string | null;
  readonly cooldownMs: number;
  /** What the outages were: "timeouts", "503 answers". */
  readonly failuresAre: string | null;
  readonly waiting: readonly BreakerWaiter[];
}

export interface BreakerWaiter {
  readonly id: string;
  readonly key: string | null;
  readonly phase: string | null;
  readonly persona: string | null;
  readonly parked: boolean;
}

/** `GET /v1/tickets`, newest first. */
export interface TicketsView {
  readonly tickets: readonly TicketRow[];
}

export interface TicketRow {
  readonly id: string;
  readonly fingerprint: string;
  readonly summary: string;
  readonly sessionId: string;
  readonly sessionKey: string | null;
  readonly status: "pending" | "posting" | "delivered";
  readonly key: string | null;
  readonly url: string | null;
  readonly createdAt: string;
  readonly deliveredAt: string | null;
  readonly notBefore: string | null;
  /** Why the last try did not deliver it. */
  readonly lastError: string | null;
  readonly failures: number;
}

export type UsageBy = "persona" | "phase" | "model" | "session" | "day";

/** `GET /v1/usage?session=&by=&since=` */
export interface UsageReport {
  readonly total: Usage;
  readonly rows: readonly (Usage & { readonly name: string })[];
  /** server adds: per bucket and name, for the chart; at most 20 names, the rest as "others". */
  readonly bucket: "hour" | "day";
  readonly series: readonly {
    readonly at: string;
    readonly name: string;
    readonly tokens: number;
    /** Null: the price of some of it is not known. */
    readonly costUsd: number | null;
  }[];
  /** server adds: sums to `total.savedTokens` and `savedUsd`. */
  readonly savings: readonly {
    readonly by: "resume" | "reuse" | "cache" | "patches";
    readonly tokens: number;
    readonly usd: number | null;
  }[];
  /** server adds: what sessions that are not over will probably have cost in the end; newest 20. */
  readonly forecasts: readonly {
    readonly id: string;
    readonly key: string | null;
    readonly forecast: Range;
    readonly actualUsd: number | null;
    readonly finished: boolean;
  }[];
  /** server adds */
  readonly alerts: readonly {
    readonly at: string;
    readonly kind: "budget-most" | "budget-reached" | "forecast";
    readonly message: string;
    readonly id: string | null;
    readonly key: string | null;
  }[];
}

/** server adds: `GET /v1/teams`, those of `serve --team` and the built-in one, for the start panel. */
export interface TeamsView {
  readonly teams: readonly {
    readonly name: string;
    readonly model: string | null;
    readonly phases: readonly string[];
    readonly personas: number;
    readonly builtIn: boolean;
  }[];
  /** Models whose key is there; the panel offers them. */
  readonly models: readonly string[];
}

/** server adds: `GET /v1/sessions/:id/team`, as it was at the start. */
export interface TeamDefinition {
  readonly name: string;
  readonly fingerprint: string;
  readonly file: string | null;
  readonly model: string | null;
  readonly given: readonly { readonly phase: string; readonly path: string }[];
  readonly phases: readonly {
    readonly name: string;
    readonly dependsOn: readonly string[];
    readonly gate: number | null;
    readonly personas: readonly {
      readonly name: string;
      readonly work: "model" | "command" | "function";
      readonly model: string | null;
      readonly instructions: string | null;
      readonly maxAttempts: number;
      readonly checks: readonly string[];
      readonly deliverables: readonly string[];
    }[];
  }[];
}

/**
 * `GET /v1/sessions/:id/artifacts?at=<ref>`; without `at`, the newest tree. server adds `trees`: what can be shown or
 * compared. Refs: "head", "phase:design", "phase:design@1" (a revision), "attempt:implementation/backend_developer/r1a2",
 * "parent" (the fork's origin).
 *
 * `GET /v1/sessions/:id/artifacts/:sha256` answers the bytes, always as `application/octet-stream` with `nosniff`.
 */
export interface ArtifactTree {
  readonly ref: string;
  readonly files: readonly (ArtifactFile & { readonly binary: boolean })[];
  readonly trees: readonly TreeRef[];
}

export interface TreeRef {
  readonly ref: string;
  readonly kind: "head" | "phase" | "revision" | "attempt" | "parent";
  readonly label: string;
  readonly at: string | null;
}
