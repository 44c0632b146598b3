import { type Amount, add, noAmount } from "../domain/budget.ts";
import type { RunSample } from "../state/ledger-store.ts";
import type { Expected } from "./alerts.ts";

/** A persona's work in a phase, by the model that does it. */
export type PlannedRun = Pick<RunSample, "phase" | "persona" | "model">;

/** What past runs took: half of them at most `median`, nine of ten at most `p90`. */
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

/** What these runs will probably take, phase by phase, judged by the history of the team. */
export function forecast(history: readonly RunSample[], planned: readonly PlannedRun[]): Forecast {
  const phases = [...Map.groupBy(planned, ({ phase }) => phase)].map(([phase, runs]): PhaseForecast => {
    const forecasts = runs.map((run) => forecastRun(history, run));
    return {
      phase,
      median: forecasts.reduce((sum, run) => add(sum, run?.median ?? noAmount), noAmount),
      p90: forecasts.reduce((sum, run) => add(sum, run?.p90 ?? noAmount), noAmount),
      unknown: runs.filter((_, index) => forecasts[index] === undefined).map(({ persona }) => persona),
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

/** For alerts: what is used so far, and half of all past runs' worth of what is still to come. */
export function expectedAtEnd(rest: Forecast): Expected {
  return ({ level, name, used }) => {
    if (level === "persona") return undefined;
    const median = level === "phase" ? rest.phases.find(({ phase }) => phase === name)?.median : rest.median;
    return median && add(used, median);
  };
}

/** The smallest value that this share of all values does not exceed: always one that really occurred. */
function atShare(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}
