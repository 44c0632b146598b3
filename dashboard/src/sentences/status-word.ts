import type { BreakerView, GateView, ParkReason, RunStatus, SessionStatus } from "../api/types.ts";
import { score } from "../format/count.ts";

/** The colors of tokens.css that stand for a status. */
export type Tone = "quiet" | "running" | "completed" | "failed" | "parked" | "reused" | "ink";

/** Each has one icon. See status/icon-shapes.tsx. */
export type StatusIcon =
  | SessionStatus
  | Exclude<RunStatus, "stopped">
  | "retries"
  | "waits"
  | "breaker-closed"
  | "breaker-half-open"
  | "breaker-open"
  | "unverified"
  | "sealed"
  | "damaged";

export interface StatusWord {
  readonly icon: StatusIcon;
  readonly word: string;
  /** Shown separately: "help" in "Parked: help". */
  readonly reason?: string;
  readonly tone: Tone;
  /** Finished work is unobtrusive: only its icon is colored. */
  readonly iconOnly?: boolean;
}

const sessionWords: Readonly<Record<SessionStatus, StatusWord>> = {
  queued: { icon: "queued", word: "Queued", tone: "quiet" },
  running: { icon: "running", word: "Running", tone: "running" },
  paused: { icon: "paused", word: "Paused", tone: "quiet" },
  parked: { icon: "parked", word: "Parked", tone: "parked" },
  completed: { icon: "completed", word: "Completed", tone: "completed", iconOnly: true },
  failed: { icon: "failed", word: "Failed", tone: "failed" },
  canceled: { icon: "canceled", word: "Canceled", tone: "quiet" },
};

export function sessionWord(status: SessionStatus, reason: ParkReason | null): StatusWord {
  const word = sessionWords[status];
  return status === "parked" && reason !== null ? { ...word, reason } : word;
}

const runWords: Readonly<Record<RunStatus, StatusWord>> = {
  pending: { icon: "pending", word: "Pending", tone: "quiet" },
  running: sessionWords.running,
  stopped: { icon: "paused", word: "Stopped", tone: "quiet" },
  completed: sessionWords.completed,
  failed: sessionWords.failed,
  skipped: { icon: "skipped", word: "Skipped", tone: "quiet" },
  reused: { icon: "reused", word: "Reused", tone: "reused" },
};

export const runWord = (status: RunStatus): StatusWord => runWords[status];

const breakerWords: Readonly<Record<BreakerView["state"], StatusWord>> = {
  closed: { icon: "breaker-closed", word: "Closed", tone: "completed" },
  "half-open": { icon: "breaker-half-open", word: "Half-open", tone: "parked" },
  open: { icon: "breaker-open", word: "Open", tone: "failed" },
};

export const breakerWord = (state: BreakerView["state"]): StatusWord => breakerWords[state];

/** A judged gate: "0.86 of 0.80". Without checks it is unverified, never passed. */
export function gateWord(gate: GateView): StatusWord {
  if (gate.verdict === "unverified")
    return { icon: "unverified", word: "Unverified: no checks ran", tone: "quiet" };
  if (gate.score === null) {
    const threshold = gate.threshold === null ? "No gate" : `Gate ${score(gate.threshold)}`;
    return { icon: "pending", word: threshold, tone: "quiet" };
  }
  const word =
    gate.threshold === null ? score(gate.score) : `${score(gate.score)} of ${score(gate.threshold)}`;
  return gate.verdict === "failed"
    ? { icon: "failed", word, tone: "failed" }
    : { icon: "completed", word, tone: "completed", iconOnly: true };
}

export const sealWord = (valid: boolean): StatusWord =>
  valid
    ? { icon: "completed", word: "Valid", tone: "completed", iconOnly: true }
    : { icon: "damaged", word: "Damaged", tone: "failed" };

/** The browser tab: "Parked: help · parking-payments" */
export function tabTitle(status: SessionStatus, reason: ParkReason | null, name: string): string {
  const { word, reason: why } = sessionWord(status, reason);
  return `${why === undefined ? word : `${word}: ${why}`} · ${name}`;
}
