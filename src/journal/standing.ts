import type { ErrorJson } from "../domain/error-json.ts";

export const sessionStatuses = [
  "queued",
  "running",
  "paused",
  "parked",
  "completed",
  "failed",
  "canceled",
] as const;
export type SessionStatus = (typeof sessionStatuses)[number];
/** Where a session stands. Each reason to park carries its own data; a new reason is one more line here. */
export type Standing =
  | { readonly status: "running" | "paused" | "completed" | "canceled" }
  /** `wakeAt`: when a scheduler may take it. */
  | { readonly status: "queued"; readonly wakeAt?: number }
  | { readonly status: "failed"; readonly error: ErrorJson }
  | { readonly status: "parked"; readonly reason: "review" }
  | { readonly status: "parked"; readonly reason: "help"; readonly error: ErrorJson }
  | { readonly status: "parked"; readonly reason: "budget"; readonly error: ErrorJson }
  /** `wakeAt`: when it resumes by itself. */
  | {
      readonly status: "parked";
      readonly reason: "breaker";
      readonly error: ErrorJson;
      readonly wakeAt: number;
    };

export const reasonOf = (standing: Standing): ParkReason | undefined =>
  standing.status === "parked" ? standing.reason : undefined;

export const errorOf = (standing: Standing): ErrorJson | undefined =>
  "error" in standing ? standing.error : undefined;

export const wakeAtOf = (standing: Standing): number | undefined =>
  "wakeAt" in standing ? standing.wakeAt : undefined;

export type ParkReason = Extract<Standing, { status: "parked" }>["reason"];

/** A session in one of these is not driven again unless a person asks. */
export const finalStatuses: readonly SessionStatus[] = ["completed", "failed", "canceled"];
