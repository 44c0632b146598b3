import type { BudgetGuard, Reserved } from "../cost/budget.ts";
import { type NamedBudget, namedBudgets } from "../cost/budget-status.ts";
import { expectedAtEnd, type PlannedRun } from "../cost/forecast.ts";
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
import { type ReservationId, utcDay } from "../domain/ledger.ts";
import type { Spend } from "../domain/usage.ts";
import type { AttemptState, SessionState } from "../journal/session-state.ts";
import { commandName } from "../personas/command/agent.ts";
import { type ProviderRates, rateOf } from "../store/decisions/rates.ts";
import type { BudgetLimit } from "../store/journal.ts";
import type { LevelTotals, RunSample } from "../store/reports.ts";
import type { SessionJournal } from "../store/session-journal.ts";
import type { BudgetDefinition, TeamDefinition } from "../team/definition/team-definition.ts";

/** The limits where neither the team nor a person sets any. */
export interface BudgetDefaults {
  readonly persona: Budget;
  /** Over all sessions of the state directory. */
  readonly day: Budget;
  /** Whether a dollar budget admits a call without a known price. */
  readonly unpriced: UnpricedRule;
}

/** From the configuration. */
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

/** The attempt that a call belongs to. */
export type CallPlace = Pick<AttemptState, "phase" | "persona" | "round" | "attempt" | "started">;

/** The money of all sessions of the state directory. */
export interface Accounts {
  readonly guard: BudgetGuard;
  readonly tracker: TokenTracker;
  readonly clock: Clock;
  readonly defaults: BudgetDefaults;
  /** Limits of providers per minute. A team may set lower ones. */
  readonly rates: ProviderRates | undefined;
  /** Samples of earlier runs of the team. Read once, when a warning may be due. */
  readonly history: (team: string) => Promise<readonly RunSample[]>;
}

/** The budgets of one session. Money is reserved before a call, and the record of the call settles it. */
export class SessionSpending {
  readonly #definition: TeamDefinition;
  readonly #journal: SessionJournal;
  readonly #accounts: Accounts;
  #past: Promise<readonly RunSample[]> | undefined;

  constructor(definition: TeamDefinition, journal: SessionJournal, accounts: Accounts) {
    this.#definition = definition;
    this.#journal = journal;
    this.#accounts = accounts;
  }

  /** Waits while only open reservations prevent it. Throws BudgetExceeded when the limit does. */
  async reserve(place: CallPlace, spend: Spend<never>, signal: AbortSignal): Promise<Reserved> {
    const { model, asked: typical, atMost = typical, output, prices, undeclared = [] } = spend;
    const { lease, state } = this.#journal;
    const { guard, defaults, rates } = this.#accounts;
    const { unpriced } = defaults;
    const limits = limitsOf(this.#definition, state, defaults, place);
    refuseUndeclared(undeclared, limits, unpriced, place, state.id);
    const asked = limits.length === 0 ? typical : atMost;
    const likely = asked === typical ? {} : { likely: typical };
    const { phase, persona, round, attempt, started } = place;
    const call = {
      phase,
      persona,
      round,
      attempt,
      started,
      model,
      asked,
      output,
      ...likely,
      limits,
      unpriced,
      prices,
      rate: rateOf(model, rates, this.#definition.limits),
    };
    return guard.reserve(lease, call, signal);
  }

  /** For a call that was certainly never made. */
  release(reservation: ReservationId): Promise<void> {
    return this.#accounts.guard.release(this.#journal.lease, reservation);
  }

  /** After a settlement, waiting calls may have room, and a warning may be due. */
  async settled({ phase, persona }: CallPlace): Promise<void> {
    const { guard, tracker, clock, defaults, history } = this.#accounts;
    const { state } = this.#journal;
    guard.settled();
    const place = { phase, persona, session: state.id, day: utcDay(clock.now()) };
    const budgets = namedBudgets(limitsOf(this.#definition, state, defaults, place), place);
    if (budgets.length === 0) return;
    this.#past ??= history(this.#definition.name);
    const samples = await this.#past;
    const expected = (totals: readonly LevelTotals[]) =>
      expectedAtEnd(samples, runsLeft(this.#definition, state), totals);
    await tracker.warn(state.id, budgets, (alerts) => this.#journal.raise(alerts), expected);
  }
}

/** Every budget of the session, for people. */
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

/** The cost of an agent is known only afterwards. Under a limit, the team must declare its maximum. */
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

/** A persona's work as the ledger records it. The models of a function are known only from its past runs. */
export function plannedRun(
  definition: TeamDefinition,
  of: { readonly phase: string; readonly persona: string },
  model: string | undefined,
): PlannedRun | undefined {
  const { phase, persona } = of;
  const work = definition.phases
    .find(({ name }) => name === phase)
    ?.personas.find(({ name }) => name === persona)?.work;
  switch (work?.kind) {
    case undefined:
      return undefined;
    case "function":
      return { phase, persona };
    case "command":
      return { phase, persona, model: commandName(work.argv) };
    case "model":
      return { phase, persona, model: work.model ?? model ?? definition.model ?? "" };
  }
}

/** The runs of all personas without a result. */
export function runsLeft(definition: TeamDefinition, state: SessionState): PlannedRun[] {
  return definition.phases.flatMap(({ name: phase, personas }) =>
    personas.flatMap(({ name: persona }) => {
      if (state.phases.get(phase)?.personas.get(persona)?.result !== undefined) return [];
      return plannedRun(definition, { phase, persona }, state.created.model) ?? [];
    }),
  );
}
