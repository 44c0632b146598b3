import type { RetryPolicies } from "../domain/after-failure.ts";
import { fingerprint } from "../domain/canonical.ts";
import type { Clock } from "../domain/clock.ts";
import { type ErrorJson, toErrorJson } from "../domain/error-json.ts";
import { BudgetExceeded, CircuitOpen, HelpNeeded, MaestroError } from "../domain/errors.ts";
import type { ParkReason, PersonaResult, SessionStatus } from "../domain/journal.ts";
import { phaseOf, type SessionState } from "../domain/session-state.ts";
import type { CircuitBreaker } from "../execution/circuit-breaker.ts";
import { type Control, DriverStopped } from "../execution/control.ts";
import type { TeamContext } from "../execution/persona-context.ts";
import type { Artifacts } from "../state/artifacts.ts";
import { projectPhase } from "../state/checkpoint.ts";
import { predecessorOf } from "../state/repair-files.ts";
import type { SessionFiles } from "../state/session-files.ts";
import type { SessionJournal } from "../state/session-journal.ts";
import { runTogether } from "./coordinator.ts";
import type { Phase, Team } from "./define.ts";
import { obey } from "./inbox.ts";

/** The 6th automatic recovery in a row without a new step: the session itself kills its drivers. */
const maxRecoveries = 5;

export interface DriverParts {
  readonly journal: SessionJournal;
  readonly files: SessionFiles;
  readonly artifacts: Artifacts;
  readonly control: Control;
  readonly clock: Clock;
  readonly breaker: CircuitBreaker;
  readonly policies: RetryPolicies;
  /** How long an attempt may stand still, unless its persona says otherwise. */
  readonly timeoutMs: number;
  readonly log: (persona: string, message: string) => void;
}

/** What a drive came to. Expected ends are values; only surprises are thrown. */
export interface Outcome {
  readonly status: SessionStatus;
  readonly reason?: ParkReason;
  readonly error?: ErrorJson;
  /** When a session that waits for a breaker may be taken up again by itself. */
  readonly wakeAt?: number;
  /** Fingerprint of the request for help. */
  readonly ticket?: string;
  /** Phase, then persona; from the driver's own memory, so that nobody reads a long history again for them. */
  readonly results?: Readonly<Record<string, Readonly<Record<string, PersonaResult>>>>;
}

/** Drives one claimed session as far as it goes and records how it ended. */
export async function driveSession(team: Team, parts: DriverParts): Promise<Outcome> {
  const { journal, clock } = parts;
  const { state } = journal;
  const outcome = state.recoveries > maxRecoveries ? poisoned(state) : await runPhases(team, parts);
  if (outcome.status === "running") return outcome;
  // The request for help and the parking are one fact: neither may be there without the other.
  const ticket =
    outcome.reason === "help"
      ? (await import("./help.ts")).ticketFor(state, outcome.error, clock.now())
      : undefined;
  const recorded = ticket === undefined ? outcome : { ...outcome, ticket: ticket.fingerprint };
  await journal.append([{ kind: "session.status", ...recorded }], { ticket });
  return recorded;
}

async function runPhases(team: Team, parts: DriverParts): Promise<Outcome> {
  try {
    obey(parts);
    const results: Record<string, Record<string, PersonaResult>> = {};
    let read = fingerprint([parts.journal.state.created.brief]);
    for (const phase of team.phases) {
      parts.control.throwIfStopped();
      await runPhase(
        phase,
        { sessionId: parts.journal.state.id, phase: phase.name, results: { ...results } },
        read,
        parts,
      );
      const done = resultsOf(phase, parts.journal.state);
      results[phase.name] = done;
      // A chain, so that a long line of phases does not hash its whole past again for each.
      read = fingerprint([read, phase.name, done as never]);
    }
    return { status: "completed" };
  } catch (error) {
    const outcome = outcomeOf(error);
    // What a person said outranks what a persona came to meanwhile; that is on record and shows at the next drive.
    const { stopped } = parts.control;
    return stopped === undefined ? outcome : outcomeOf(stopped);
  }
}

/** Idempotent: what the journal knows as done is not done again. */
async function runPhase(phase: Phase, context: TeamContext, read: string, parts: DriverParts): Promise<void> {
  const { journal } = parts;
  const state = phaseOf(journal.state, phase.name);
  if (state.status === "pending") await journal.append([{ kind: "phase.started", phase: phase.name }]);
  if (state.status === "running") {
    const { brief } = journal.state.created;
    await runTogether(
      phase.personas.map(({ name, run, maxAttempts, timeoutMs = parts.timeoutMs }) => ({
        parts: { ...parts, policies: withMaxAttempts(parts.policies, maxAttempts) },
        work: {
          phase: phase.name,
          persona: name,
          run,
          brief,
          context,
          input: fingerprint([read, phase.name, name]),
          timeoutMs,
        },
      })),
    );
    await journal.append([{ kind: "phase.completed", phase: phase.name }]);
  }
  if (state.checkpoint === undefined) await sealPhase(phase.name, parts);
}

/** The row commits first, the file follows: a missing file is projected again, a missing row would be a lie. */
async function sealPhase(phase: string, { journal, files }: DriverParts): Promise<void> {
  const checkpoint = projectPhase(journal.state, phase, [predecessorOf(journal.state, phase)]);
  const { revision } = checkpoint.content;
  await journal.append([{ kind: "checkpoint.sealed", phase, revision, sha256: checkpoint.sha256 }]);
  await files.writeCheckpoint(checkpoint);
}

export function outcomeOf(error: unknown): Outcome {
  if (error instanceof DriverStopped) {
    if (error.reason === "shutdown") return { status: "running" };
    return { status: error.reason === "pause" ? "paused" : "canceled" };
  }
  if (!MaestroError.is(error)) throw error;
  if (HelpNeeded.is(error)) return { status: "parked", reason: "help", error: toErrorJson(error) };
  if (BudgetExceeded.is(error)) return { status: "parked", reason: "budget", error: toErrorJson(error) };
  if (CircuitOpen.is(error)) {
    const wakeAt = Number(error.details["retryAt"]);
    return { status: "parked", reason: "breaker", wakeAt, error: toErrorJson(error) };
  }
  if (error.next === "fail") return { status: "failed", error: toErrorJson(error) };
  throw error;
}

function poisoned(state: SessionState): Outcome {
  const help = new HelpNeeded(
    `Session ${state.id} was recovered ${state.recoveries} times in a row without recording a new step; something in it ends the process.`,
    {
      advice: "Look at the logs of the last runs, mend the cause, then resume the session.",
      details: { recoveries: state.recoveries },
    },
  );
  return { status: "parked", reason: "help", error: toErrorJson(help) };
}

function resultsOf(phase: Phase, state: SessionState): Record<string, PersonaResult> {
  const { personas } = phaseOf(state, phase.name);
  return Object.fromEntries(
    phase.personas.map(({ name }) => [name, personas.get(name)?.result as PersonaResult]),
  );
}

function withMaxAttempts(
  policies: DriverParts["policies"],
  maxAttempts: number | undefined,
): DriverParts["policies"] {
  if (maxAttempts === undefined) return policies;
  return { ...policies, attempts: { ...policies.attempts, maxAttempts } };
}
