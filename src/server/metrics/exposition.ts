export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels?: Labels;
  readonly value: number;
  /** `_bucket`, `_sum` or `_count` of a histogram. */
  readonly suffix?: string;
}

export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly samples: readonly Sample[];
}

/** The text format of Prometheus, version 0.0.4. */
export function exposition(metrics: readonly Metric[]): string {
  return metrics.map(metricText).join("");
}

function metricText({ name, help, type, samples }: Metric): string {
  const lines = samples.map(
    ({ labels = {}, value, suffix = "" }) => `${name}${suffix}${labelText(labels)} ${numberText(value)}`,
  );
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ""].join("\n");
}

const mostLabelLength = 200;

/** Persona and model names are untrusted: nothing in them may end the label or the line. */
function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escape(value: string): string {
  const short = value.slice(0, mostLabelLength).toWellFormed();
  return short.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("\r", "");
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  return String(value);
}
