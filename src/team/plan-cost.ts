import { forecast, type PhaseForecast } from "../cost/forecast.ts";
import type { Amount } from "../domain/budget.ts";
import type { ForkOrigin } from "../domain/journal.ts";
import type { Artifacts } from "../state/artifacts.ts";
import type { RunSample } from "../state/ledger-store.ts";
import { readState } from "../state/session-journal.ts";
import type { SessionRecord, Store } from "../state/store.ts";
import type { Team } from "./define.ts";
import { checkFork } from "./fork.ts";
import type { ForkRequest } from "./make-fork.ts";
import { editPhase } from "./phase-edit.ts";
import { imagineFork, type PlannedPersona, planRun } from "./plan.ts";
import { plannedRun } from "./planned-runs.ts";

/** What would run, and between which amounts it may cost. */
export interface Plan {
  readonly personas: readonly PlannedPersona[];
  /** `least`: what surely runs, as such runs usually were. `most`: also what may run, as nine of ten were. */
  readonly cost: { readonly least: Amount; readonly most: Amount };
  /** Of each phase in which something runs or may run. */
  readonly phases: readonly PhaseForecast[];
  /** Personas that nobody has ever seen at work: they are not part of the cost. */
  readonly unknown: readonly string[];
}

interface PlanParts {
  readonly store: Store;
  readonly artifacts: Artifacts;
}

export async function planResume(session: SessionRecord, team: Team, parts: PlanParts): Promise<Plan> {
  const state = await readState(parts.store, session.id);
  const personas = await planRun(team.definition, state, parts.artifacts);
  return withCost(
    personas,
    team,
    state.created.model,
    await parts.store.ledger.history(team.name, session.id),
  );
}

export async function planFork(
  parent: SessionRecord,
  team: Team,
  { at, edits = {}, fresh = false, model }: ForkRequest,
  { store, artifacts }: PlanParts,
): Promise<Plan> {
  const state = await readState(store, parent.id);
  const edited = await Promise.all(
    Object.entries(edits).map(([name, edit]) => editPhase(team.definition, state, name, edit, artifacts)),
  );
  const fork: ForkOrigin = { session: parent.id, at, fresh, edited: edited.map(({ content }) => content) };
  checkFork(team.definition, state, fork);
  const personas = await planRun(team.definition, imagineFork(team.definition, state, fork), artifacts);
  return withCost(
    personas,
    team,
    model ?? state.created.model,
    await store.ledger.history(team.name, parent.id),
  );
}

function withCost(
  personas: readonly PlannedPersona[],
  { definition }: Team,
  model: string | undefined,
  history: readonly RunSample[],
): Plan {
  const runs = (...actions: readonly string[]) =>
    personas
      .filter(({ action }) => actions.includes(action))
      .flatMap((of) => plannedRun(definition, of, model) ?? []);
  const most = forecast(history, runs("runs", "may-run"));
  const least = forecast(history, runs("runs")).median;
  return { personas, cost: { least, most: most.p90 }, phases: most.phases, unknown: most.unknown };
}
