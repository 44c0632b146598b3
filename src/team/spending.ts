import type { BudgetGuard } from "../cost/budget.ts";
import { type NamedBudget, namedBudgets } from "../cost/budget-status.ts";
import type { TokenTracker } from "../cost/token-tracker.ts";
import { type Budget, usdToMicros } from "../domain/budget.ts";
import type { Clock } from "../domain/clock.ts";
import type { SessionId } from "../domain/ids.ts";
import { utcDay } from "../domain/ledger.ts";
import type { AttemptState, SessionState } from "../domain/session-state.ts";
import type { SpendGuard } from "../execution/spend-guard.ts";
import type { BudgetAlert, BudgetLimit } from "../state/ledger-store.ts";
import type { BudgetDefinition, TeamDefinition } from "./definition/team-definition.ts";

/** What applies where neither the team nor a person says anything. */
export interface BudgetDefaults {
  readonly persona: Budget;
  /** Over all sessions of the state directory. */
  readonly day: Budget;
}

export interface SpendingParts {
  readonly guard: BudgetGuard;
  readonly tracker: TokenTracker;
  readonly clock: Clock;
  readonly onAlert: (id: SessionId, alert: BudgetAlert) => void;
}

/** The budgets of one session: what its team says, and what a person has said since. */
export function spendingOf(
  definition: TeamDefinition,
  state: SessionState,
  defaults: BudgetDefaults,
  { guard, tracker, clock, onAlert }: SpendingParts,
): SpendGuard {
  return {
    reserve: (lease, attempt, { model, asked: typical, atMost = typical }, signal) => {
      const { phase, persona, round, attempt: number, started } = attempt;
      const limits = limitsOf(definition, state, defaults, attempt);
      const asked = limits.length === 0 ? typical : atMost;
      const request = { phase, persona, round, attempt: number, started, model, asked, limits };
      return guard.reserve(lease, request, signal);
    },
    release: (lease, reservation) => guard.release(lease, reservation),
    settled: async (lease, attempt) => {
      guard.settled();
      const { phase, persona } = attempt;
      const place = { phase, persona, session: state.id, day: utcDay(clock.now()) };
      const budgets = namedBudgets(limitsOf(definition, state, defaults, attempt), place);
      if (budgets.length === 0) return;
      for (const alert of await tracker.newAlerts(lease, budgets)) onAlert(state.id, alert);
    },
  };
}

/** Every budget that is set anywhere in the session, for people to look at. */
export function allBudgets(
  definition: TeamDefinition,
  state: SessionState,
  defaults: BudgetDefaults,
  day: string,
): NamedBudget[] {
  const found = new Map<string, NamedBudget>();
  for (const { name: phase, personas } of definition.phases) {
    for (const { name: persona } of personas) {
      const limits = limitsOf(definition, state, defaults, { phase, persona });
      for (const budget of namedBudgets(limits, { phase, persona, session: state.id, day }))
        found.set(`${budget.level} ${budget.name}`, budget);
    }
  }
  return [...found.values()];
}

export function limitsOf(
  definition: TeamDefinition,
  state: SessionState,
  defaults: BudgetDefaults,
  { phase: phaseName, persona: personaName }: Pick<AttemptState, "phase" | "persona">,
): BudgetLimit[] {
  const phase = definition.phases.find(({ name }) => name === phaseName);
  const persona = phase?.personas.find(({ name }) => name === personaName);
  const { budgets } = state;
  const limits: BudgetLimit[] = [
    {
      level: "persona",
      budget: { ...defaults.persona, ...toBudget(persona?.budget), ...budgets.get(`persona ${personaName}`) },
    },
    { level: "phase", budget: { ...toBudget(phase?.budget), ...budgets.get(`phase ${phaseName}`) } },
    { level: "session", budget: { ...toBudget(definition.budget), ...budgets.get("session") } },
    { level: "day", budget: defaults.day },
  ];
  return limits.filter(({ budget }) => budget.tokens !== undefined || budget.microUsd !== undefined);
}

export function toBudget(
  written: { readonly [Unit in keyof BudgetDefinition]: number | undefined } | null | undefined,
): Budget {
  return {
    ...(written?.tokens !== undefined && { tokens: written.tokens }),
    ...(written?.usd !== undefined && { microUsd: usdToMicros(written.usd) }),
  };
}
