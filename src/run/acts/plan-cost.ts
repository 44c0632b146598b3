import { forecast, type PhaseForecast } from "../../cost/forecast.ts";
import type { Amount } from "../../domain/budget.ts";
import type { EffectState } from "../../journal/effect.ts";
import type { ForkOrigin, Transition } from "../../journal/journal.ts";
import type { RunSample } from "../../store/reports.ts";
import { readState } from "../../store/session-journal.ts";
import type { SessionRecord } from "../../store/store.ts";
import type { Team } from "../../team/define.ts";
import { selectPhases } from "../direction.ts";
import type { OpenState } from "../drive.ts";
import { type Preparation, prepareDrive } from "../prepare.ts";
import { plannedRun } from "../spending.ts";
import type { ForkRequest } from "./fork.ts";
import { checkFork } from "./fork.ts";
import { editPhase } from "./phase-edit.ts";
import { imagine, imagineFork, type PlannedPersona, planRun } from "./plan.ts";
import { effectsOfPlan, refuseToRepeat } from "./repeat-effects.ts";

/** The personas that would run, and the range of the cost. */
export interface Plan {
  readonly personas: readonly PlannedPersona[];
  /** `least`: the median cost of what certainly runs. `most`: the 90th percentile, including what may run. */
  readonly cost: { readonly least: Amount; readonly most: Amount };
  /** Of each phase in which a persona runs or may run. */
  readonly phases: readonly PhaseForecast[];
  /** Effects that happened and that a run of these personas would repeat. */
  readonly effects: readonly PlannedEffect[];
  /** Personas without past runs. They are not part of the cost. */
  readonly unknown: readonly string[];
}

export type PlannedEffect = Pick<EffectState, "seq" | "name" | "phase" | "persona">;

/** The plan of a resume with its preparation. Refuses what the resume would refuse. */
export async function planResume(
  session: SessionRecord,
  team: Team,
  preparation: Preparation,
  { store, artifacts }: Pick<OpenState, "store" | "artifacts">,
): Promise<Plan> {
  const before = await readState(store, session.id);
  const { rows, direction } = await prepareDrive(before, team, preparation, artifacts);
  const state = rows.reduce((imagined, row) => imagine(imagined, row as Transition), before);
  const chosen = new Set(selectPhases(team.definition, state, direction ?? {}).map(({ name }) => name));
  const personas = (await planRun(team.definition, state, artifacts)).filter(
    ({ phase, action }) => action === "kept" || chosen.has(phase),
  );
  const history = await store.reports.history(team.name, session.id);
  // A resume repeats no effect: an equal call gets the recorded result.
  return { ...withCost(personas, team, state.created.model, history), effects: [] };
}

export async function planFork(
  parent: SessionRecord,
  team: Team,
  { at, edits = {}, fresh = false, model }: ForkRequest,
  { store, artifacts }: Pick<OpenState, "store" | "artifacts">,
): Promise<Plan> {
  const state = await readState(store, parent.id);
  const edited = await Promise.all(
    Object.entries(edits).map(([name, edit]) => editPhase(team.definition, state, name, edit, artifacts)),
  );
  const fork: ForkOrigin = { session: parent.id, at, fresh, edited: edited.map(({ content }) => content) };
  checkFork(team.definition, state, fork);
  const imagined = imagineFork(team.definition, state, fork, model);
  const personas = await planRun(team.definition, imagined, artifacts);
  const history = await store.reports.history(team.name, parent.id);
  const effects = effectsOfPlan(state, personas).map(({ seq, name, phase, persona }) => ({
    seq,
    name,
    phase,
    persona,
  }));
  return { ...withCost(personas, team, imagined.created.model, history), effects };
}

/** A fork repeats effects that happened only when a person says so. */
export async function refuseRepeatingFork(
  parent: SessionRecord,
  team: Team,
  request: ForkRequest,
  state: Pick<OpenState, "store" | "artifacts">,
): Promise<void> {
  if (request.repeatEffects === true || (await readState(state.store, parent.id)).effects.size === 0) return;
  refuseToRepeat(parent.id, (await planFork(parent, team, request, state)).effects);
}

function withCost(
  personas: readonly PlannedPersona[],
  { definition }: Team,
  model: string | undefined,
  history: readonly RunSample[],
): Omit<Plan, "effects"> {
  const runs = (...actions: readonly string[]) =>
    personas
      .filter(({ action }) => actions.includes(action))
      .flatMap((of) => plannedRun(definition, of, model) ?? []);
  const most = forecast(history, runs("runs", "may-run"));
  const least = forecast(history, runs("runs")).median;
  return { personas, cost: { least, most: most.p90 }, phases: most.phases, unknown: most.unknown };
}
