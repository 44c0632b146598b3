import { type Amount, add, noAmount } from "../domain/budget.ts";
import type { LevelTotals, RunSample } from "../store/reports.ts";
import type { Expected } from "./alerts.ts";

/** A persona's work in a phase and its model; undefined for code, which calls the models it called before. */
export interface PlannedRun {
  readonly phase: string;
  readonly persona: string;
  readonly model?: string | undefined;
}

/** The usage of past runs: half used at most `median`, nine in ten at most `p90`. */
export interface RunForecast {
  readonly median: Amount;
  readonly p90: Amount;
  readonly samples: number;
}

export interface PhaseForecast {
  readonly phase: string;
  readonly median: Amount;
  /** The sum over all personas, which is rarer than one run in ten: an upper bound, not a prediction. */
  readonly p90: Amount;
  /** Personas without past runs. The sums exclude them. */
  readonly unknown: readonly string[];
}

export interface Forecast extends Omit<PhaseForecast, "phase"> {
  readonly phases: readonly PhaseForecast[];
}

/** The probable usage of these runs, per phase, from the team's history. */
export function forecast(history: readonly RunSample[], planned: readonly PlannedRun[]): Forecast {
  const phases = [...Map.groupBy(planned, ({ phase }) => phase)].map(([phase, runs]): PhaseForecast => {
    const forecasts = runs.map((run) => forecastRun(history, run));
    return {
      phase,
      median: forecasts.reduce((sum, run) => add(sum, run?.median ?? noAmount), noAmount),
      p90: forecasts.reduce((sum, run) => add(sum, run?.p90 ?? noAmount), noAmount),
      // Code that never called a model probably never will.
      unknown: runs
        .filter(({ model }, index) => model !== undefined && forecasts[index] === undefined)
        .map(({ persona }) => persona),
    };
  });
  return {
    phases,
    median: phases.reduce((sum, { median }) => add(sum, median), noAmount),
    p90: phases.reduce((sum, { p90 }) => add(sum, p90), noAmount),
    unknown: phases.flatMap(({ unknown }) => unknown),
  };
}

/** Runs of another model show how many tokens the work needs, but not its cost. */
export function forecastRun(history: readonly RunSample[], run: PlannedRun): RunForecast | undefined {
  const ofPersona = history.filter(({ phase, persona }) => phase === run.phase && persona === run.persona);
  if (run.model === undefined) return forecastCode(ofPersona);
  const ofModel = ofPersona.filter(({ model }) => model === run.model);
  const samples = ofModel.length > 0 ? ofModel : ofPersona;
  if (samples.length === 0) return undefined;
  const tokens = samples.map(({ spent }) => spent.tokens);
  const dollars = ofModel.map(({ spent }) => spent.microUsd).filter((microUsd) => microUsd !== null);
  const at = (share: number): Amount => ({
    tokens: atShare(tokens, share) ?? 0,
    microUsd: atShare(dollars, share) ?? null,
  });
  return { median: at(0.5), p90: at(0.9), samples: samples.length };
}

/** Code may call several models in one run. This adds up its usual use of each. */
function forecastCode(ofPersona: readonly RunSample[]): RunForecast | undefined {
  const models = [...new Set(ofPersona.map(({ model }) => model))];
  return models
    .flatMap((model) => forecastRun(ofPersona, { ...(ofPersona[0] as RunSample), model }) ?? [])
    .reduce<RunForecast | undefined>(
      (sum, { median, p90, samples }) => ({
        median: add(sum?.median ?? noAmount, median),
        p90: add(sum?.p90 ?? noAmount, p90),
        samples: Math.max(sum?.samples ?? 0, samples),
      }),
      undefined,
    );
}

/**
 * The expected total for alerts: usage so far plus the rest, if each persona uses the median of its past runs.
 * Usage so far counts as part of that median, not on top of it.
 */
export function expectedAtEnd(
  history: readonly RunSample[],
  left: readonly PlannedRun[],
  totals: readonly LevelTotals[],
): Expected {
  const phases = new Map<string, Amount>();
  let all = noAmount;
  for (const [persona, runs] of Map.groupBy(left, (run) => run.persona)) {
    const used = totals.find(({ level, name }) => level === "persona" && name === persona)?.used ?? noAmount;
    for (const run of runs) {
      const usual = forecastRun(history, run)?.median;
      if (usual === undefined) continue;
      // The history does not show which of its phases used them.
      const rest = runs.length === 1 ? without(usual, used) : usual;
      phases.set(run.phase, add(phases.get(run.phase) ?? noAmount, rest));
      all = add(all, rest);
    }
  }
  return ({ level, name, used }) => {
    const rest = level === "session" ? all : level === "phase" ? phases.get(name) : undefined;
    return rest && add(used, rest);
  };
}

function without(usual: Amount, used: Amount): Amount {
  return {
    tokens: Math.max(0, usual.tokens - used.tokens),
    microUsd:
      usual.microUsd === null || used.microUsd === null ? null : Math.max(0, usual.microUsd - used.microUsd),
  };
}

/** The smallest value that covers this share of all values, so always one that occurred. */
function atShare(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}
