import { type Amount, add, noAmount } from "../domain/budget.ts";
import type { LevelTotals, RunSample } from "../store/reports.ts";
import type { Expected } from "./alerts.ts";

/** A persona's work in a phase, by the model that does it; undefined: code, which calls what it called before. */
export interface PlannedRun {
  readonly phase: string;
  readonly persona: string;
  readonly model?: string | undefined;
}

/** The usage of past runs: half of them at most `median`, nine of ten at most `p90`. */
export interface RunForecast {
  readonly median: Amount;
  readonly p90: Amount;
  readonly samples: number;
}

export interface PhaseForecast {
  readonly phase: string;
  readonly median: Amount;
  /** Of all personas at once, which is rarer than one run in ten: an upper end, not a prediction. */
  readonly p90: Amount;
  /** Personas without any past run; they are not part of the sums. */
  readonly unknown: readonly string[];
}

export interface Forecast extends Omit<PhaseForecast, "phase"> {
  readonly phases: readonly PhaseForecast[];
}

/** The probable usage of these runs, phase by phase, by the history of the team. */
export function forecast(history: readonly RunSample[], planned: readonly PlannedRun[]): Forecast {
  const phases = [...Map.groupBy(planned, ({ phase }) => phase)].map(([phase, runs]): PhaseForecast => {
    const forecasts = runs.map((run) => forecastRun(history, run));
    return {
      phase,
      median: forecasts.reduce((sum, run) => add(sum, run?.median ?? noAmount), noAmount),
      p90: forecasts.reduce((sum, run) => add(sum, run?.p90 ?? noAmount), noAmount),
      // Code that never asked a model will hardly begin to.
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

/** Another model's runs say how many tokens the work takes, but not what they cost. */
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

/** Code may ask several models in one run: what it usually asks of each, together. */
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
 * For alerts: what is used so far, and what is still to come if each persona takes what half of its past runs took. What
 * a persona has used by now is part of that, not on top of it.
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
      // The history does not say in which of its phases a persona used them.
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

/** The smallest value that this share of all values does not exceed: always one that really occurred. */
function atShare(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}
