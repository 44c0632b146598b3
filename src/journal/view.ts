import type { Attachment } from "../domain/attachment.ts";
import { type Budget, type BudgetLevelName, type Ledger, microsToUsd } from "../domain/budget.ts";
import { type CheckResult, checkKey } from "../domain/contract.ts";
import type { ErrorJson } from "../domain/error-json.ts";
import type { Healed } from "../domain/healing-action.ts";
import { isoTime } from "../domain/iso-time.ts";
import type { ProtectedChange, PutBack } from "../domain/put-back.ts";
import { defaultQueue } from "../domain/queue.ts";
import { isAllSimulated } from "../domain/simulated.ts";
import type { UsageRow, UsageTotals } from "../domain/usage-totals.ts";
import { isStuck } from "./after-failure.ts";
import { putBackIn } from "./conversation.ts";
import { type DeliveryView, describeDelivery, type TicketView } from "./delivery-view.ts";
import { type EffectView, effectsIn, type WaitingView, waitingIn } from "./effect-view.ts";
import { exhaustedIn, exhaustedOf, hasFailed } from "./exhausted.ts";
import type { Direction, PersonaChecks, PersonaResult, RecordedFailure, Source } from "./journal.ts";
import { type BaselineRun, beforeWeBegan } from "./judgment-values.ts";
import { needsProgram, type PlannedPhase, plannedChecks, plannedPhases } from "./planned.ts";
import {
  type AttemptState,
  type PersonaState,
  type PhaseState,
  type RecordedDecision,
  type SessionState,
} from "./session-state.ts";
import { describeSetup, type SetupView } from "./setup-view.ts";
import { type StopRequest, stopRequest } from "./signal.ts";
import {
  errorOf,
  type ParkReason,
  type PauseCause,
  pausedBy,
  reasonOf,
  type SessionStatus,
  wakeAtOf,
} from "./standing.ts";

export { type DeliveryView, describeTicket, type TicketView } from "./delivery-view.ts";

export interface SessionResult {
  readonly status: SessionStatus;
  readonly reason?: ParkReason;
  readonly error?: ErrorJson;
  /** When a session that waits for a breaker resumes by itself. */
  readonly wakeAt?: number;
  readonly ticket: TicketView | null;
  readonly tickets: readonly TicketView[];
  readonly id: string;
  /** By phase, then by persona. */
  readonly results: Readonly<Record<string, Readonly<Record<string, PersonaResult>>>>;
}

export interface SessionView {
  readonly id: string;
  readonly key: string | null;
  /** The person who started it, if that person has a token of their own. */
  readonly owner: string | null;
  readonly team: string;
  readonly brief: string;
  /** Files that belong to the brief. */
  readonly attachments: readonly Attachment[];
  readonly status: SessionStatus;
  readonly reason: ParkReason | null;
  /** Why it is paused, if it is. */
  readonly pausedBy: PauseCause | null;
  /** A person asked a running session to stop: it does at its next step. */
  readonly stopping: StopRequest | null;
  readonly error: ErrorJson | null;
  readonly model: string | null;
  readonly queue: string;
  readonly priority: number;
  /** No real model took part. */
  readonly simulated: boolean;
  /** Null for an import: its path belongs to another machine and is never loaded. */
  readonly teamFile: string | null;
  /** It came from an export. It runs only after a person has trusted it. */
  readonly imported: { readonly trusted: boolean } | null;
  /** Personas are functions that only the defining program can run. */
  readonly needsProgram: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** When a session that waits for a breaker, or rests, resumes by itself. */
  readonly wakeAt: string | null;
  readonly steps: number;
  readonly phases: readonly PhaseView[];
  /** File names of sealed work that the database lacks, because it comes from an older backup. */
  readonly newerCheckpoints: readonly string[];
  readonly direction: Direction;
  readonly fork: { readonly session: string; readonly at: string } | null;
  /** The repository that it works on, at the start. */
  readonly source: Source | null;
  /** The outcome of the checks on its initial files. */
  readonly baseline: readonly BaselineView[];
  /** Null before the first delivery. */
  readonly delivery: DeliveryView | null;
  /** How its dependencies were installed. */
  readonly setup: readonly SetupView[];
  readonly usage: UsageTotals;
  readonly budgets: readonly BudgetView[];
  readonly ticket: TicketView | null;
  /** The tickets of the last request for help, one for each persona that needs it. */
  readonly tickets: readonly TicketView[];
  readonly artifacts: readonly ArtifactView[];
  readonly decisions: readonly RecordedDecision[];
  /** Everything that waits for a person. `seq`: for a phase, its last row. */
  readonly waiting: readonly WaitingView[];
  /** Effects that must not be repeated silently, and that happened or may have happened. */
  readonly effects: readonly EffectView[];
}

export interface BaselineView {
  readonly check: string;
  readonly status: BaselineRun["status"];
  /** Number of tests; null if no reader knows. */
  readonly passed: number | null;
  readonly failed: number | null;
  readonly skipped: number | null;
  /** The artifact with its complete output. */
  readonly output: string | null;
  /** "3 of 153 fail before we began". */
  readonly text: string;
}

export interface PhaseView {
  readonly name: string;
  readonly dependsOn: readonly string[];
  readonly status: PhaseState["status"] | "failed" | "reused";
  readonly revision: number;
  readonly gate: {
    readonly threshold: number | null;
    readonly score: number | null;
    readonly verdict: "passed" | "failed" | "unverified";
  } | null;
  readonly checks: readonly PersonaChecks[];
  /** Changes to protected files by personas in this revision. The files were restored. */
  readonly putBack: readonly PersonaPutBack[];
  readonly review: PhaseState["review"];
  readonly notes: readonly string[];
  readonly source: PhaseState["source"];
  readonly tree: string | null;
  readonly personas: readonly PersonaView[];
  readonly checkpoint: { readonly revision: number; readonly sha256: string } | null;
}

export interface PersonaPutBack extends ProtectedChange {
  readonly persona: string;
}

export interface PersonaView {
  readonly name: string;
  readonly status: "pending" | "running" | "completed" | "failed" | "reused";
  /** It is out of attempts: when its phase ends, the session asks a person for help. */
  readonly needsYou: boolean;
  readonly round: number;
  readonly attempt: number;
  readonly attempts: readonly AttemptView[];
  readonly summary: string | null;
  /** Usage in the whole session, if a persona works in several phases. */
  readonly usage: UsageTotals | null;
}

/** Amounts in tokens and dollars; null without a limit or a known price. */
export interface BudgetView {
  readonly level: BudgetLevelName;
  readonly name: string;
  readonly limit: { readonly tokens: number | null; readonly usd: number | null };
  readonly used: { readonly tokens: number; readonly usd: number | null };
  readonly reserved: { readonly tokens: number; readonly usd: number | null };
  readonly overrun: boolean;
}

export interface AttemptView {
  readonly round: number;
  readonly attempt: number;
  readonly status: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly failure: RecordedFailure | null;
  /** How its contract was judged; empty if it failed before that. */
  readonly checks: readonly CheckResult[];
  readonly healing: readonly Healed[];
  /** Changes to protected files. The files were restored. */
  readonly putBack: PutBack | null;
  /** It failed as the one before it, on equal files, and so ended its round. */
  readonly stuck: boolean;
  /** The earliest start of the next attempt. */
  readonly notBefore: string | null;
  readonly tree: string | null;
}

export interface ArtifactView {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly persona: string | null;
  readonly phase: string | null;
}

export function resultsOf(state: SessionState): SessionResult["results"] {
  return Object.fromEntries(
    [...state.phases].map(([phase, { personas }]) => [
      phase,
      Object.fromEntries(
        [...personas].flatMap(([name, { result }]) => (result === undefined ? [] : [[name, result]])),
      ),
    ]),
  );
}

export function describeSession(
  state: SessionState,
  { tickets, pullRequest, artifacts, usage, budgets, newerCheckpoints, blocked }: OutsideJournal,
): SessionView {
  const { created, createdHead } = state;
  // The path in an import belongs to another machine, and a file at that path here is not its team.
  const teamFile = state.imported === undefined ? (created.teamFile ?? null) : null;
  const planned = plannedPhases(created.definition);
  const wakeAt = wakeAtOf(state.standing);
  return {
    id: state.id,
    key: created.key ?? null,
    owner: created.owner ?? null,
    team: created.team,
    brief: created.brief,
    attachments: created.attachments ?? [],
    status: state.standing.status,
    reason: reasonOf(state.standing) ?? null,
    pausedBy: pausedBy(state.standing) ?? null,
    stopping: state.standing.status === "running" ? state.signals.reduce(stopRequest, null) : null,
    error: errorOf(state.standing) ?? blocked ?? null,
    model: created.model ?? null,
    queue: created.queue ?? defaultQueue,
    priority: created.priority ?? 0,
    simulated: isAllSimulated(usage.total, created.model),
    teamFile,
    needsProgram: needsProgram({ definition: created.definition, ...(teamFile !== null && { teamFile }) }),
    imported: state.imported === undefined ? null : { trusted: state.imported === "trusted" },
    createdAt: isoTime(createdHead.at),
    updatedAt: isoTime(state.updatedAt),
    wakeAt: wakeAt === undefined ? null : isoTime(wakeAt),
    steps: state.stepCount,
    phases: planned.map((phase) => describePhase(state, phase, usage)),
    newerCheckpoints,
    direction: state.direction,
    fork: created.fork === undefined ? null : { session: created.fork.session, at: created.fork.at },
    source: created.source ?? null,
    baseline: describeBaseline(state),
    delivery: state.delivery === undefined ? null : describeDelivery(state.delivery, pullRequest),
    setup: [...state.setups.values()].map(describeSetup),
    usage: usage.total,
    budgets: budgets.map(describeBudget),
    ticket: tickets[0] ?? null,
    tickets,
    artifacts,
    decisions: state.decisions,
    waiting: waitingIn(state),
    effects: effectsIn(state),
  };
}

function describeBaseline({ created, baseline }: SessionState): BaselineView[] {
  if (baseline.size === 0) return [];
  return plannedChecks(created.definition).flatMap((check) => {
    const run = baseline.get(checkKey(check));
    if (run === undefined) return [];
    const { passed = null, failed = null, skipped = null } = run.tests ?? {};
    const { status, output = null } = run;
    const text = beforeWeBegan(run, run.tests ?? null);
    return [{ check: check.name, status, passed, failed, skipped, output, text }];
  });
}

function describePhase(
  state: SessionState,
  { name, dependsOn, personas }: PlannedPhase,
  usage: UsageByPersona,
): PhaseView {
  const phase = state.phases.get(name);
  const done = phase?.status === "completed";
  const described = personas.map((persona) => ({
    ...describePersona(persona.name, phase?.personas.get(persona.name)),
    usage: usage.rows.find((row) => row.name === persona.name) ?? null,
  }));
  const reused = done && described.length > 0 && described.every(({ status }) => status === "reused");
  const failed = phase?.status === "running" && hasFailed(exhaustedIn(phase), state.standing.status);
  return {
    name,
    dependsOn,
    status: reused ? "reused" : failed ? "failed" : (phase?.status ?? "pending"),
    revision: phase?.revision ?? 1,
    gate: done ? describeGate(phase) : null,
    checks: phase?.checks ?? [],
    putBack: phase === undefined ? [] : putBackOfPhase(phase),
    review: phase?.review ?? "none",
    notes: phase?.notes ?? [],
    source: phase?.source ?? { kind: "work" },
    tree: phase?.tree ?? null,
    personas: described,
    checkpoint: phase?.checkpoint ?? null,
  };
}

/** Limited to the current revision, which a reviewer judges. */
export function putBackOfPhase({ personas, revision }: PhaseState): PersonaPutBack[] {
  return [...personas].flatMap(([persona, { attempts }]) =>
    putBackIn(attempts.filter((attempt) => attempt.revision === revision)).map((change) => ({
      persona,
      ...change,
    })),
  );
}

/** A phase without checks is unverified, never passed. */
function describeGate({ gate }: PhaseState): PhaseView["gate"] {
  const { threshold = null, score = null, verdict = "unverified" } = gate ?? {};
  return { threshold, score, verdict };
}

/** The parts of a view that are not in the journal. */
interface OutsideJournal extends Pick<SessionView, "tickets" | "artifacts" | "newerCheckpoints"> {
  readonly pullRequest: TicketView | undefined;
  readonly usage: UsageByPersona;
  readonly budgets: readonly UsedBudget[];
  /** Why the process that could drive it does not take it. */
  readonly blocked: ErrorJson | undefined;
}

interface UsageByPersona {
  readonly total: UsageTotals;
  readonly rows: readonly UsageRow[];
}

interface UsedBudget extends Ledger {
  readonly level: BudgetLevelName;
  readonly name: string;
  readonly budget: Budget;
  readonly overrun: boolean;
}

export function describeBudget({ level, name, budget, used, reserved, overrun }: UsedBudget): BudgetView {
  const limit = { tokens: budget.tokens ?? null, usd: usd(budget.microUsd ?? null) };
  return {
    level,
    name,
    limit,
    used: { tokens: used.tokens, usd: usd(used.microUsd) },
    reserved: { tokens: reserved.tokens, usd: usd(reserved.microUsd) },
    overrun,
  };
}

const usd = (microUsd: number | null): number | null => (microUsd === null ? null : microsToUsd(microUsd));

function describePersona(name: string, persona: PersonaState | undefined): Omit<PersonaView, "usage"> {
  const last = persona?.attempts.at(-1);
  return {
    name,
    status: statusOf(persona),
    needsYou: persona !== undefined && exhaustedOf(persona) === "help",
    round: last?.round ?? 0,
    attempt: last?.attempt ?? 0,
    attempts: (persona?.attempts ?? []).map(describeAttempt),
    summary: persona?.result?.summary ?? null,
  };
}

function statusOf(persona: PersonaState | undefined): PersonaView["status"] {
  if (persona?.result !== undefined) return persona.reused ? "reused" : "completed";
  const last = persona?.attempts.at(-1)?.status;
  return last === undefined || last === "completed" ? "pending" : last;
}

function describeAttempt(attempt: AttemptState): AttemptView {
  const { round, status, startedAt, endedAt, failure, checks, healing, putBack, next, tree } = attempt;
  return {
    round,
    attempt: attempt.attempt,
    status,
    startedAt: isoTime(startedAt),
    endedAt: endedAt === undefined ? null : isoTime(endedAt),
    failure: failure ?? null,
    checks,
    healing,
    putBack: putBack ?? null,
    stuck: isStuck(next),
    notBefore: next !== undefined && "wait" in next ? isoTime(next.wait.notBefore) : null,
    tree: tree ?? null,
  };
}
