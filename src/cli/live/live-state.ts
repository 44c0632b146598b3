import type { ParkReason, SessionStatus, StepKind } from "../../domain/journal.ts";
import type { UsageReport } from "../../index.ts";

export interface LivePersona {
  readonly name: string;
  status: "pending" | "running" | "waiting" | "failed" | "completed" | "reused";
  round: number;
  attempt: number;
  /** What it does now, or did last. */
  activity: string;
  /** The effect that is under way. */
  doing: { readonly step: StepKind; readonly since: number } | undefined;
  /** When what it waits for is over. */
  until: number | undefined;
  startedAt: number | undefined;
  endedAt: number | undefined;
}

export interface LivePhase {
  readonly name: string;
  status: "pending" | "running" | "completed";
  review: "none" | "awaiting" | "approved";
  /** "score 0.90 of 0.75": how the gate judged. */
  gate: { readonly passed: boolean; readonly text: string } | undefined;
  startedAt: number | undefined;
  endedAt: number | undefined;
  personas: LivePersona[];
}

/** A session as somebody who watches sees it, made from its events and nothing else. */
export interface LiveSession {
  id: string;
  team: string;
  brief: string;
  model: string | undefined;
  status: SessionStatus;
  reason: ParkReason | undefined;
  wakeAt: number | undefined;
  createdAt: number | undefined;
  /** When this process, or the one that is watched, took it up. */
  claimedAt: number | undefined;
  endedAt: number | undefined;
  phases: LivePhase[];
  /** Budgets that run out, dependencies that are down: the newest last. */
  warnings: string[];
  seq: number;
  usage: UsageReport | undefined;
  /** What Ctrl-C does here. */
  hint: string;
}

export function newLiveSession(id: string): LiveSession {
  return {
    id,
    team: "",
    brief: "",
    model: undefined,
    status: "queued",
    reason: undefined,
    wakeAt: undefined,
    createdAt: undefined,
    claimedAt: undefined,
    endedAt: undefined,
    phases: [],
    warnings: [],
    seq: 0,
    usage: undefined,
    hint: "Ctrl-C stops cleanly",
  };
}

export function newLivePersona(name: string): LivePersona {
  return {
    name,
    status: "pending",
    round: 0,
    attempt: 0,
    activity: "",
    doing: undefined,
    until: undefined,
    startedAt: undefined,
    endedAt: undefined,
  };
}
