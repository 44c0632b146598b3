import type { RetryPolicies } from "../domain/after-failure.ts";
import type { CommandFor } from "../domain/command-line.ts";
import { type ErrorJson, toErrorJson } from "../domain/error-json.ts";
import { BudgetExceeded, CircuitOpen, HelpNeeded, MaestroError } from "../domain/errors.ts";
import type { ParkReason, PersonaResult, SessionStatus } from "../domain/journal.ts";
import { awaiting } from "../domain/send-back.ts";
import { isAccepted, type SessionState } from "../domain/session-state.ts";
import type { AttemptParts } from "../execution/attempt-run.ts";
import { DriverStopped } from "../execution/control.ts";
import type { Healer } from "../execution/healing/healer.ts";
import type { SessionFiles } from "../state/session-files.ts";
import type { Team } from "./define.ts";
import { orderPhases } from "./definition/order.ts";
import type { PersonaDefinition, TeamDefinition } from "./definition/team-definition.ts";
import { obey } from "./inbox.ts";
import { type PhaseParts, runPhase, sealPhase } from "./phase-runner.ts";
import type { AskModel } from "./planning/classify-with-model.ts";
import type { PlannerCall } from "./planning/planner-call.ts";
import { recordPlan } from "./planning/record-plan.ts";
import { Readings } from "./readings.ts";
import { isComplete, selectPhases } from "./selection.ts";
import { type BudgetDefaults, type SpendingParts, spendingOf } from "./spending.ts";
import { SessionTrees } from "./trees.ts";
import { type WorkParts, worksOf } from "./work.ts";

/** The 6th automatic recovery in a row without a new step: the session itself kills its drivers. */
const maxRecoveries = 5;

export interface DriverParts extends Omit<AttemptParts, "spending"> {
  readonly spending: SpendingParts;
  readonly budgets: BudgetDefaults;
  readonly files: SessionFiles;
  readonly policies: RetryPolicies;
  /** How long an attempt may stand still, unless its persona says otherwise. */
  readonly timeoutMs: number;
  readonly healers: readonly Healer[];
  readonly performOf: (team: Team, model: string | undefined) => WorkParts["performOf"];
  /** For teams that are planned by a model. */
  readonly askModel: (model: string | undefined, call: PlannerCall) => AskModel;
  readonly onPlanned: (team: Team) => void;
  readonly commandFor: CommandFor;
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
  /** Of all of them, when several personas need help. */
  readonly tickets?: readonly string[];
  /** What waits for a person was there before, in a branch that this drive was not for; not recorded. */
  readonly elsewhere?: true;
  /** Phase, then persona; from the driver's own memory, so that nobody reads a long history again for them. */
  readonly results?: Readonly<Record<string, Readonly<Record<string, PersonaResult>>>>;
}

/** Drives one claimed session as far as it goes and records how it ended. */
export async function driveSession(team: Team, parts: DriverParts): Promise<Outcome> {
  const { journal } = parts;
  const { state } = journal;
  const outcome = state.recoveries > maxRecoveries ? poisoned(state) : await runPhases(team, parts);
  if (outcome.status === "running") return outcome;
  if (outcome.reason === "help" && outcome.ticket === undefined) return parkForHelp(outcome, parts);
  const { elsewhere: _, ...recorded } = outcome;
  await journal.append([{ kind: "session.status", ...recorded }]);
  return outcome;
}

/** The requests for help and the parking are one fact: neither may be there without the other. */
async function parkForHelp(outcome: Outcome, { journal, clock, commandFor }: DriverParts): Promise<Outcome> {
  const { askForHelp } = await import("./help.ts");
  const { state, store } = journal;
  const totals = await store.ledger.totals(state.id);
  const used = totals.find(({ level }) => level === "session")?.used;
  const { tokens = 0, microUsd = null } = used ?? {};
  const spent = microUsd === null ? { tokens } : { tokens, microUsd };
  const failed = outcome.error ?? toErrorJson(new HelpNeeded("Nobody said why help is needed."));
  const { error, tickets } = askForHelp(state, failed, { now: clock.now(), spent, commandFor });
  const [first, ...more] = tickets.map(({ fingerprint }) => fingerprint);
  const named = {
    ...(first && { ticket: first }),
    ...(first && more.length > 0 && { tickets: [first, ...more] }),
  };
  const recorded = { ...outcome, error, ...named };
  await journal.append([{ kind: "session.status", ...recorded }], { tickets });
  return recorded;
}

async function runPhases(whole: Team, parts: DriverParts): Promise<Outcome> {
  const { journal, control } = parts;
  const { state } = journal;
  try {
    obey(parts);
    const team = await plan(whole, parts);
    await recordPlan(journal);
    const { definition } = team;
    const phaseParts = partsOfPhase(team, parts);
    await sealAccepted(definition, phaseParts);
    // Where to pause was checked when it was said; a phase that a changed team no longer has is none to pause after.
    const { pauseAfter: _, ...span } = state.direction;
    for (const phase of selectPhases(definition, state, span)) {
      control.throwIfStopped();
      if (isAccepted(state.phases.get(phase.name))) continue;
      if (state.phases.get(phase.name)?.status !== "completed") await runPhase(phase, phaseParts);
      if (!isAccepted(state.phases.get(phase.name))) return whatWaits(state);
    }
    return isComplete(definition, state) ? { status: "completed" } : { ...whatWaits(state), elsewhere: true };
  } catch (error) {
    const outcome = outcomeOf(error);
    // What a person said outranks what a persona came to meanwhile; that is on record and shows at the next drive.
    const { stopped } = control;
    return stopped === undefined ? outcome : outcomeOf(stopped);
  }
}

/** Who runs one branch does not answer for another: what needed a person there needs one still. */
function whatWaits(state: SessionState): Outcome {
  const { stoodFor, phases, tickets } = state;
  const isOpen = [...phases.values()].some(({ status }) => status === "running");
  if (stoodFor !== undefined && isOpen) {
    const [ticket] = stoodFor.reason === "help" ? tickets : [];
    return { status: "parked", ...stoodFor, ...(ticket !== undefined && { ticket, tickets }) };
  }
  return awaiting(state).length > 0 ? { status: "parked", reason: "review" } : { status: "paused" };
}

/** The team that works: the whole, unless it asks for planning and nobody has done that yet. */
async function plan(team: Team, parts: DriverParts): Promise<Team> {
  const { definition } = team;
  if (definition.planning === undefined) return team;
  const { journal, control } = parts;
  control.throwIfStopped();
  const { planSession } = await import("./planning/plan-session.ts");
  const model = journal.state.created.model ?? definition.model ?? undefined;
  const spending = spendingOf(definition, journal, parts.budgets, parts.spending);
  const askModel = (call: PlannerCall) => parts.askModel(model, call);
  const planned = await planSession(team, { ...parts, spending, askModel });
  parts.onPlanned(planned);
  return planned;
}

/** Phases that are done and not sealed: given from outside, edited, or their driver died in between. */
async function sealAccepted(definition: TeamDefinition, parts: PhaseParts): Promise<void> {
  const { phases } = parts.journal.state;
  for (const name of orderPhases(definition)) {
    const phase = phases.get(name);
    if (phase?.status === "completed" && phase.checkpoint === undefined) await sealPhase(name, parts);
  }
}

function partsOfPhase(team: Team, parts: DriverParts): PhaseParts {
  const { journal, artifacts, files, timeoutMs, healers, policies } = parts;
  const { definition } = team;
  const readings = new Readings(definition, journal.state);
  const trees = new SessionTrees(artifacts, definition, journal.state, readings);
  const model = journal.state.created.model ?? definition.model ?? undefined;
  const performOf = parts.performOf(team, model);
  const spending = spendingOf(definition, journal, parts.budgets, parts.spending);
  return {
    journal,
    files,
    artifacts,
    trees,
    parallel: definition.parallel,
    workOf: worksOf({ journal, readings, trees, timeoutMs, healers, model, performOf }),
    parts: (persona) => ({ ...parts, spending, policies: withMaxAttempts(policies, persona) }),
  };
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

function withMaxAttempts(policies: RetryPolicies, { maxAttempts }: PersonaDefinition): RetryPolicies {
  if (maxAttempts === null) return policies;
  return { ...policies, attempts: { ...policies.attempts, maxAttempts } };
}
