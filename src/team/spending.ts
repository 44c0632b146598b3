import type { BudgetGuard } from "../cost/budget.ts";
import { type NamedBudget, namedBudgets } from "../cost/budget-status.ts";
import { expectedAtEnd } from "../cost/forecast.ts";
import type { TokenTracker } from "../cost/token-tracker.ts";
import { undeclaredSpend } from "../cost/undeclared-spend.ts";
import {
  type Budget,
  type BudgetChange,
  type BudgetUnit,
  changedBudget,
  type UnpricedRule,
  usdToMicros,
} from "../domain/budget.ts";
import type { Clock } from "../domain/clock.ts";
import type { SessionId } from "../domain/ids.ts";
import { utcDay } from "../domain/ledger.ts";
import type { AttemptState, SessionState } from "../domain/session-state.ts";
import type { SpendGuard } from "../execution/spend-guard.ts";
import type { BudgetLimit, LevelTotals, RunSample } from "../state/ledger-store.ts";
import type { SessionJournal } from "../state/session-journal.ts";
import type { BudgetDefinition, TeamDefinition } from "./definition/team-definition.ts";
import { runsLeft } from "./planned-runs.ts";

/** What applies where neither the team nor a person says anything. */
export interface BudgetDefaults {
  readonly persona: Budget;
  /** Over all sessions of the state directory. */
  readonly day: Budget;
  /** What has no known price, under a budget of dollars. */
  readonly unpriced: UnpricedRule;
}

/** As the configuration writes them. */
export function budgetDefaults(written: {
  readonly personaTokens: number | undefined;
  readonly dayTokens: number | undefined;
  readonly dayUsd: number | undefined;
  readonly unpriced: UnpricedRule;
}): BudgetDefaults {
  const { personaTokens, dayTokens, dayUsd, unpriced } = written;
  return {
    persona: toBudget({ tokens: personaTokens, usd: undefined }),
    day: toBudget({ tokens: dayTokens, usd: dayUsd }),
    unpriced,
  };
}

export interface SpendingParts {
  readonly guard: BudgetGuard;
  readonly tracker: TokenTracker;
  readonly clock: Clock;
  /** What runs of the team took before, read once when somebody has to be warned. */
  readonly history: (team: string) => Promise<readonly RunSample[]>;
}

/** The budgets of one session: what its team says, and what a person has said since. */
export function spendingOf(
  definition: TeamDefinition,
  journal: SessionJournal,
  defaults: BudgetDefaults,
  { guard, tracker, clock, history }: SpendingParts,
): SpendGuard {
  const { state } = journal;
  let past: Promise<readonly RunSample[]> | undefined;
  return {
    reserve: async (lease, attempt, { model, asked: typical, atMost = typical, undeclared = [] }, signal) => {
      const { phase, persona, round, attempt: number, started } = attempt;
      const limits = limitsOf(definition, state, defaults, attempt);
      const { unpriced } = defaults;
      refuseUndeclared(undeclared, limits, unpriced, attempt, state.id);
      const asked = limits.length === 0 ? typical : atMost;
      const likely = asked === typical ? {} : { likely: typical };
      const place = { phase, persona, round, attempt: number, started };
      return guard.reserve(lease, { ...place, model, asked, ...likely, limits, unpriced }, signal);
    },
    release: (lease, reservation) => guard.release(lease, reservation),
    settled: async (_, attempt) => {
      guard.settled();
      const { phase, persona } = attempt;
      const place = { phase, persona, session: state.id, day: utcDay(clock.now()) };
      const budgets = namedBudgets(limitsOf(definition, state, defaults, attempt), place);
      if (budgets.length === 0) return;
      past ??= history(definition.name);
      const samples = await past;
      const expected = (totals: readonly LevelTotals[]) =>
        expectedAtEnd(samples, runsLeft(definition, state), totals);
      await tracker.warn(state.id, budgets, (alerts) => journal.raise(alerts), expected);
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
      budget: changedBudget(
        { ...defaults.persona, ...toBudget(persona?.budget) },
        budgets.get(`persona ${personaName}`),
      ),
    },
    { level: "phase", budget: changedBudget(toBudget(phase?.budget), budgets.get(`phase ${phaseName}`)) },
    { level: "session", budget: changedBudget(toBudget(definition.budget), budgets.get("session")) },
    { level: "day", budget: defaults.day },
  ];
  return limits.filter(({ budget }) => budget.tokens !== undefined || budget.microUsd !== undefined);
}

/** What an agent spends is known only afterwards: under a limit its author has to say what it may be. */
function refuseUndeclared(
  undeclared: readonly BudgetUnit[],
  limits: readonly BudgetLimit[],
  unpriced: UnpricedRule,
  { phase, persona }: Pick<AttemptState, "phase" | "persona">,
  session: SessionId,
): void {
  const unit = undeclared.find((unit) =>
    limits.some(({ budget }) =>
      unit === "tokens"
        ? budget.tokens !== undefined
        : budget.microUsd !== undefined && unpriced === "refuse",
    ),
  );
  if (unit !== undefined) throw undeclaredSpend({ phase, persona, unit, session });
}

export function toChange({
  tokens,
  usd,
}: {
  readonly tokens: number | null | undefined;
  readonly usd: number | null | undefined;
}): BudgetChange {
  return {
    ...(tokens !== undefined && { tokens }),
    ...(usd !== undefined && { microUsd: usd === null ? null : usdToMicros(usd) }),
  };
}

export function toBudget(
  written: { readonly [Unit in keyof BudgetDefinition]: number | undefined } | null | undefined,
): Budget {
  return {
    ...(written?.tokens !== undefined && { tokens: written.tokens }),
    ...(written?.usd !== undefined && { microUsd: usdToMicros(written.usd) }),
  };
}
