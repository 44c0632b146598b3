import { completeOrder } from "../domain/delivery-order.ts";
import { type ErrorJson, toErrorJson } from "../domain/error-json.ts";
import {
  BudgetExceeded,
  CircuitOpen,
  EffectUnknown,
  HelpNeeded,
  MaestroError,
  SetupFailed,
} from "../domain/errors.ts";
import { redactError } from "../domain/redact.ts";
import type { PersonaResult } from "../journal/journal.ts";
import { awaiting } from "../journal/reset-phase.ts";
import { isAccepted, type SessionState } from "../journal/session-state.ts";
import { type Asking, isAsking, ruleOf, type Standing } from "../journal/standing.ts";
import { unansweredIn } from "../journal/waiting-call.ts";
import { sealPhase } from "../store/seal-phase.ts";
import type { SessionJournal } from "../store/session-journal.ts";
import { recallOrder } from "../store/session-memory.ts";
import type { Team } from "../team/define.ts";
import { orderPhases } from "../team/definition/order.ts";
import type { TeamDefinition } from "../team/definition/team-definition.ts";
import type { Performed } from "./acts/perform-order.ts";
import { DriverStopped } from "./control.ts";
import { isComplete, selectPhases } from "./direction.ts";
import type { ClaimedSession, TeamDrive } from "./drive.ts";
import { obey } from "./inbox.ts";
import { PersonaInputs } from "./persona-inputs.ts";
import { modelOf } from "./persona-work.ts";
import { runPhase } from "./phase.ts";
import { measureSource, prepareDependencies } from "./prepare-source.ts";
import { besideBaseline, refuseMissingPrograms } from "./session-checks.ts";
import { SessionSpending } from "./spending.ts";
import { SessionTrees } from "./trees.ts";

/** The 6th automatic recovery in a row without a new step: the session itself kills its drivers. */
const maxRecoveries = 5;

/** How a drive ended. Expected ends are values; only unexpected errors are thrown. */
export type Outcome = Standing & {
  /** Fingerprints of the requests for help. */
  readonly tickets?: readonly string[];
  /** A branch outside this drive was already waiting for a person. Not recorded. */
  readonly elsewhere?: true;
  /** The delivery of a completed session. Recorded as a row of its own. */
  readonly performed?: Performed;
  /** By phase, then persona. From the driver's memory, so that the history is not read again for them. */
  readonly results?: Readonly<Record<string, Readonly<Record<string, PersonaResult>>>>;
};

/** Drives one claimed session as far as it goes and records how it ended. */
export async function driveSession(team: Team, session: ClaimedSession): Promise<Outcome> {
  const { journal } = session;
  const isPoisoned = journal.state.recoveries > maxRecoveries;
  const outcome = isPoisoned ? poisoned(journal.state) : await runPhases(team, session);
  if (outcome.status === "running" && !("wakeAt" in outcome)) return outcome;
  if (isAsking(outcome) && outcome.tickets === undefined) return parkWithTickets(outcome, session);
  const { elsewhere: _, performed, ...recorded } = outcome;
  // In one commit: after a crash before it, the session is not completed, and the same is delivered again.
  const { delivered, tickets = [] } = performed ?? {};
  await journal.append(
    [
      ...(delivered === undefined ? [] : [{ kind: "session.delivered", ...delivered } as const]),
      { kind: "session.status", ...recorded },
    ],
    { artifacts: printedBy(outcome), ...(tickets.length > 0 && { tickets }) },
  );
  return outcome;
}

/** The artifact with what a set-up that failed has printed. */
function printedBy(outcome: Outcome): readonly string[] {
  const output = "error" in outcome ? outcome.error.details?.["output"] : undefined;
  return typeof output === "string" && /^[0-9a-f]{64}$/.test(output) ? [output] : [];
}

/** Parks the session and raises its tickets in one commit, so that neither exists without the other. */
async function parkWithTickets(
  { reason, error: failed }: Pick<Asking, "reason" | "error">,
  { journal, clock, commandFor }: ClaimedSession,
): Promise<Outcome> {
  const { askForHelp } = await import("./help.ts");
  const { state, store } = journal;
  const totals = await store.reports.totals(state.id);
  const used = totals.find(({ level }) => level === "session")?.used;
  const { tokens = 0, microUsd = null } = used ?? {};
  const spent = microUsd === null ? { tokens } : { tokens, microUsd };
  const { error, tickets } = askForHelp(state, failed, { now: clock.now(), spent, commandFor });
  const raised = tickets.map(({ fingerprint }) => fingerprint);
  const outcome = { status: "parked", reason, error, tickets: raised } as const;
  await journal.append([{ kind: "session.status", ...outcome }], { tickets });
  return outcome;
}

async function runPhases(whole: Team, claimed: ClaimedSession): Promise<Outcome> {
  const { journal, control } = claimed;
  try {
    obey(claimed);
    const session = await prepareDependencies(whole, claimed);
    // A plan by rules asks no model, and says which checks count at all.
    const asksModel = whole.definition.planning === "model";
    if (asksModel) await measureSource(whole, session);
    const team = await planTeam(whole, session);
    if (!asksModel) await measureSource(team, session);
    await recordPlan(journal);
    const { definition } = team;
    const drive = driveOf(team, session);
    await sealAccepted(definition, drive);
    // `pauseAfter` was checked when it was set. A changed team may no longer have that phase.
    const { pauseAfter: _, ...span } = journal.state.direction;
    const phaseNow = (name: string) => journal.state.phases.get(name);
    const selected = selectPhases(definition, journal.state, span);
    await refuseMissingPrograms(
      selected.filter(({ name }) => phaseNow(name)?.status !== "completed"),
      session,
    );
    for (const phase of selected) {
      control.throwIfStopped();
      if (isAccepted(phaseNow(phase.name))) continue;
      if (phaseNow(phase.name)?.status !== "completed") await runPhase(phase, drive);
      if (!isAccepted(phaseNow(phase.name))) return waitsFor(journal.state);
    }
    return isComplete(definition, journal.state)
      ? { status: "completed", ...(await deliverAtEnd(definition, session)) }
      : { ...waitsFor(journal.state), elsewhere: true };
  } catch (error) {
    const outcome = outcomeOf(error);
    // A person's signal outranks the error of a persona. The error is recorded, and the next drive reports it.
    const { stopped } = control;
    // A wait for a person ends the drive when nothing else is left: what went wrong before it comes first.
    return stopped === undefined || stopped.reason === "ask" ? outcome : outcomeOf(stopped);
  }
}

/** Does what the team and the person who started the session ordered. What fails is recorded and fails nothing else. */
async function deliverAtEnd(
  { deliver }: TeamDefinition,
  session: ClaimedSession,
): Promise<Pick<Outcome, "performed">> {
  const { journal, stateDirectory, control } = session;
  const { id, created } = journal.state;
  const own = created.source?.git === undefined ? {} : deliver;
  const order = completeOrder({ ...own, ...(await recallOrder(stateDirectory, id)) });
  if (order === undefined) return {};
  const { performOrder } = await import("./acts/perform-order.ts");
  const delivering = { ...session, signal: control.signal };
  return { performed: await performOrder(journal.state, order, delivering, () => undefined) };
}

/** A drive of one branch leaves the others as they were: a branch that needed a person still does. */
function waitsFor(state: SessionState): Outcome {
  const { stoodFor, phases, tickets } = state;
  const isOpen = [...phases.values()].some(({ status }) => status === "running");
  if (stoodFor !== undefined && isOpen) {
    return { status: "parked", ...stoodFor, ...(ruleOf(stoodFor.reason).raisesTicket && { tickets }) };
  }
  return awaiting(state).length + unansweredIn(state).length > 0
    ? { status: "parked", reason: "review" }
    : { status: "paused", by: "direction" };
}

/** The team for this session. A team that asks for planning is planned once, by its first driver. */
async function planTeam(team: Team, session: ClaimedSession): Promise<Team> {
  const { definition } = team;
  if (definition.planning === undefined) return team;
  const { journal, control, accounts } = session;
  control.throwIfStopped();
  const { planSession } = await import("./planning/plan-session.ts");
  const spending = new SessionSpending(definition, journal, accounts);
  const planned = await planSession(team, modelOf(team, journal.state), { ...session, spending });
  session.onPlanned(planned);
  return planned;
}

/**
 * Records the decisions that made the team, before its first phase. They are one append and are known by their titles, so
 * that a crash leaves each of them once.
 */
async function recordPlan(journal: SessionJournal): Promise<void> {
  const { created, decisions } = journal.state;
  const known = new Set(
    decisions.flatMap(({ title, phase, persona }) => ((phase ?? persona) === undefined ? [title] : [])),
  );
  const rows = (created.decisions ?? [])
    .filter(({ title }) => !known.has(title))
    .map((decision) => ({ kind: "decision.recorded", ...decision }) as const);
  if (rows.length > 0) await journal.append(rows);
}

/** Seals completed phases without a checkpoint: given, edited, or their driver died before the seal. */
async function sealAccepted(definition: TeamDefinition, drive: TeamDrive): Promise<void> {
  for (const name of orderPhases(definition)) {
    const phase = drive.journal.state.phases.get(name);
    if (phase?.status === "completed" && phase.checkpoint === undefined) await sealPhase(name, drive);
  }
}

function driveOf(team: Team, session: ClaimedSession): TeamDrive {
  const { journal, artifacts, accounts } = session;
  const { definition } = team;
  const inputs = new PersonaInputs(definition, journal);
  return {
    ...session,
    checks: besideBaseline(session),
    team,
    inputs,
    trees: new SessionTrees(artifacts, definition, journal, inputs),
    spending: new SessionSpending(definition, journal, accounts),
  };
}

const recorded = (error: unknown): ErrorJson => redactError(toErrorJson(error));

export function outcomeOf(error: unknown): Outcome {
  if (error instanceof DriverStopped) {
    if (error.cause !== undefined) throw error.cause;
    if (error.reason === "shutdown") return { status: "running" };
    if (error.reason === "ask") return { status: "parked", reason: "review" };
    if (error.resting !== undefined) return { status: "running", ...error.resting };
    if (error.reason === "cancel") return { status: "canceled" };
    return { status: "paused", by: error.reason === "interrupt" ? "interrupt" : "person" };
  }
  if (!MaestroError.is(error)) throw error;
  if (HelpNeeded.is(error)) return { status: "parked", reason: "help", error: recorded(error) };
  if (EffectUnknown.is(error)) return { status: "parked", reason: "unknown", error: recorded(error) };
  if (BudgetExceeded.is(error)) return { status: "parked", reason: "budget", error: recorded(error) };
  if (SetupFailed.is(error)) return { status: "parked", reason: "setup", error: recorded(error) };
  if (CircuitOpen.is(error)) {
    const wakeAt = Number(error.details["retryAt"]);
    return { status: "parked", reason: "breaker", wakeAt, error: recorded(error) };
  }
  if (error.next === "fail") return { status: "failed", error: recorded(error) };
  throw error;
}

function poisoned(state: SessionState): Outcome {
  const help = new HelpNeeded(
    `Session ${state.id} was recovered ${state.recoveries} times in a row without recording a new step. One of its steps probably ends the process.`,
    {
      advice: "Read the logs of the last runs, fix the cause, then resume the session.",
      details: { recoveries: state.recoveries },
    },
  );
  return { status: "parked", reason: "help", error: recorded(help) };
}
