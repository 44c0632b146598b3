import type { CommandFor } from "../domain/advice.ts";
import { type ErrorJson, toErrorJson } from "../domain/error-json.ts";
import { BudgetExceeded, CircuitOpen, HelpNeeded, MaestroError } from "../domain/errors.ts";
import type { PersonaResult } from "../journal/journal.ts";
import { awaiting } from "../journal/reset-phase.ts";
import { isAccepted, type SessionState } from "../journal/session-state.ts";
import type { Standing } from "../journal/standing.ts";
import { sealPhase } from "../store/seal-phase.ts";
import type { SessionFiles } from "../store/session-files.ts";
import type { Team } from "../team/define.ts";
import { orderPhases } from "../team/definition/order.ts";
import type { TeamDefinition } from "../team/definition/team-definition.ts";
import { DriverStopped } from "./control.ts";
import type { Drive } from "./drive.ts";
import type { PhaseDrive } from "./group.ts";
import type { Healer } from "./healing/healer.ts";
import { obey } from "./inbox.ts";
import { Readings } from "./persona-inputs.ts";
import { runPhase } from "./phase-runner.ts";
import type { AskModel } from "./planning/classify-with-model.ts";
import type { PlannerCall } from "./planning/planner-call.ts";
import { recordPlan } from "./planning/record-plan.ts";
import { isComplete, selectPhases } from "./selection.ts";
import { type Accounts, SessionSpending } from "./spending.ts";
import { SessionTrees } from "./trees.ts";
import { type WorkParts, worksOf } from "./work.ts";

/** The 6th automatic recovery in a row without a new step: the session itself kills its drivers. */
const maxRecoveries = 5;

export interface DriverParts extends Omit<Drive, "spending"> {
  readonly accounts: Accounts;
  readonly files: SessionFiles;
  /** How long an attempt may stand still, unless its persona says otherwise. */
  readonly timeoutMs: number;
  readonly healers: readonly Healer[];
  readonly performOf: (team: Team, model: string | undefined) => WorkParts["performOf"];
  /** For teams that are planned by a model. */
  readonly askModel: (model: string | undefined, call: PlannerCall) => AskModel;
  readonly onPlanned: (team: Team) => void;
  readonly commandFor: CommandFor;
}

/** How a drive ended. Expected ends are values; only surprises are thrown. */
export type Outcome = Standing & {
  /** Fingerprints of the requests for help. */
  readonly tickets?: readonly string[];
  /** A branch outside this drive waits for a person, and did so before; not recorded. */
  readonly elsewhere?: true;
  /** Phase, then persona; from the driver's own memory, so that no long history is read again for them. */
  readonly results?: Readonly<Record<string, Readonly<Record<string, PersonaResult>>>>;
};

/** Drives one claimed session as far as it goes and records how it ended. */
export async function driveSession(team: Team, parts: DriverParts): Promise<Outcome> {
  const { journal } = parts;
  const isPoisoned = journal.state.recoveries > maxRecoveries;
  const outcome = isPoisoned ? poisoned(journal.state) : await runPhases(team, parts);
  if (outcome.status === "running") return outcome;
  if (outcome.status === "parked" && outcome.reason === "help" && outcome.tickets === undefined)
    return parkForHelp(outcome.error, parts);
  const { elsewhere: _, ...recorded } = outcome;
  await journal.append([{ kind: "session.status", ...recorded }]);
  return outcome;
}

/** The requests for help and the parking are one fact: neither may be there without the other. */
async function parkForHelp(failed: ErrorJson, { journal, clock, commandFor }: DriverParts): Promise<Outcome> {
  const { askForHelp } = await import("./help.ts");
  const { state, store } = journal;
  const totals = await store.reports.totals(state.id);
  const used = totals.find(({ level }) => level === "session")?.used;
  const { tokens = 0, microUsd = null } = used ?? {};
  const spent = microUsd === null ? { tokens } : { tokens, microUsd };
  const { error, tickets } = askForHelp(state, failed, { now: clock.now(), spent, commandFor });
  const raised = tickets.map(({ fingerprint }) => fingerprint);
  const outcome = { status: "parked", reason: "help", error, tickets: raised } as const;
  await journal.append([{ kind: "session.status", ...outcome }], { tickets });
  return outcome;
}

async function runPhases(whole: Team, parts: DriverParts): Promise<Outcome> {
  const { journal, control } = parts;
  try {
    obey(parts);
    const team = await plan(whole, parts);
    await recordPlan(journal);
    const { definition } = team;
    const drive = phaseDriveOf(team, parts);
    await sealAccepted(definition, drive);
    // Where to pause was checked when it was said; a phase that a changed team no longer has is none to pause after.
    const { pauseAfter: _, ...span } = journal.state.direction;
    const phaseNow = (name: string) => journal.state.phases.get(name);
    for (const phase of selectPhases(definition, journal.state, span)) {
      control.throwIfStopped();
      if (isAccepted(phaseNow(phase.name))) continue;
      if (phaseNow(phase.name)?.status !== "completed") await runPhase(phase, drive);
      if (!isAccepted(phaseNow(phase.name))) return waitsFor(journal.state);
    }
    return isComplete(definition, journal.state)
      ? { status: "completed" }
      : { ...waitsFor(journal.state), elsewhere: true };
  } catch (error) {
    const outcome = outcomeOf(error);
    // What a person said outranks what a persona came to meanwhile; that is on record and shows at the next drive.
    const { stopped } = control;
    return stopped === undefined ? outcome : outcomeOf(stopped);
  }
}

/** A drive of one branch does not answer for another: what needed a person there still does. */
function waitsFor(state: SessionState): Outcome {
  const { stoodFor, phases, tickets } = state;
  const isOpen = [...phases.values()].some(({ status }) => status === "running");
  if (stoodFor !== undefined && isOpen) {
    return { status: "parked", ...stoodFor, ...(stoodFor.reason === "help" && { tickets }) };
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
  const spending = new SessionSpending(definition, journal, parts.accounts);
  const askModel = (call: PlannerCall) => parts.askModel(model, call);
  const planned = await planSession(team, { ...parts, spending, askModel });
  parts.onPlanned(planned);
  return planned;
}

/** Phases that are done and not sealed: given from outside, edited, or their driver died in between. */
async function sealAccepted(definition: TeamDefinition, drive: PhaseDrive): Promise<void> {
  for (const name of orderPhases(definition)) {
    const phase = drive.journal.state.phases.get(name);
    if (phase?.status === "completed" && phase.checkpoint === undefined) await sealPhase(name, drive);
  }
}

function phaseDriveOf(team: Team, parts: DriverParts): PhaseDrive {
  const { journal, artifacts, timeoutMs, healers } = parts;
  const { definition } = team;
  const readings = new Readings(definition, journal);
  const trees = new SessionTrees(artifacts, definition, journal, readings);
  const model = journal.state.created.model ?? definition.model ?? undefined;
  const performOf = parts.performOf(team, model);
  return {
    ...parts,
    spending: new SessionSpending(definition, journal, parts.accounts),
    trees,
    parallel: definition.parallel,
    workOf: worksOf({ journal, readings, trees, timeoutMs, healers, model, performOf }),
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
