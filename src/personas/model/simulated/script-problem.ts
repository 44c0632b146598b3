import { didYouMean } from "../../../domain/closest.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../domain/json.ts";

export interface ScriptProblem {
  /** "personas.analyst.0.1.calls" */
  readonly path: string;
  readonly what: string;
}

type Rule = (value: Json, path: string) => ScriptProblem | undefined;

const maxTurns = 1000;
const maxLatencyMs = 3_600_000;

const text: Rule = (value, path) => (typeof value === "string" ? undefined : { path, what: "is not a text" });

const count =
  (max: number): Rule =>
  (value, path) =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max
      ? undefined
      : { path, what: `is not a whole number from 0 to ${max}` };

const oneOf =
  (...allowed: readonly string[]): Rule =>
  (value, path) =>
    typeof value === "string" && allowed.includes(value)
      ? undefined
      : {
          path,
          what: `is none of ${allowed.join(", ")}.${didYouMean(typeof value === "string" ? value : "", allowed)}`.replace(
            /\.$/,
            "",
          ),
        };

const either =
  (first: Rule, second: Rule): Rule =>
  (value, path) =>
    first(value, path) && second(value, path);

const listOf =
  (rule: Rule): Rule =>
  (value, path) => {
    if (!Array.isArray(value)) return { path, what: "is not a list" };
    if (value.length > maxTurns) return { path, what: `has more than ${maxTurns} entries` };
    return first(value.map((item: Json, index) => () => rule(item, `${path}.${index}`)));
  };

const mapping: Rule = (value, path) => (isJsonObject(value) ? undefined : { path, what: "is not a mapping" });

/** Only these keys; `needed` must be there. */
const fields =
  (rules: Readonly<Record<string, Rule>>, needed: readonly string[] = []): Rule =>
  (value, path) => {
    if (!isJsonObject(value)) return { path, what: "is not a mapping" };
    const at = (key: string): string => (path === "" ? key : `${path}.${key}`);
    const missing = needed.find((key) => !Object.hasOwn(value, key));
    if (missing !== undefined) return { path: at(missing), what: "is missing" };
    return first(
      Object.entries(value).map(([key, member]) => () => {
        const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
        if (rule !== undefined) return rule(member, at(key));
        const what = `is not a known key.${didYouMean(key, Object.keys(rules))}`.replace(/\.$/, "");
        return { path: at(key), what };
      }),
    );
  };

const first = (looks: readonly (() => ScriptProblem | undefined)[]): ScriptProblem | undefined => {
  for (const look of looks) {
    const problem = look();
    if (problem !== undefined) return problem;
  }
  return undefined;
};

const fault: Rule = (value, path) =>
  fields({
    status: (status, at) =>
      Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 599
        ? undefined
        : { path: at, what: "is not an HTTP status from 400 to 599" },
    retryAfter: either(text, count(86_400)),
    message: text,
    kind: oneOf("reset", "cut", "garbage", "overflow", "empty", "silence"),
    times: count(maxTurns),
  })(value, path) ??
  (isJsonObject(value) && "status" in value !== "kind" in value
    ? undefined
    : { path, what: "needs either a status or a kind" });

const turn = fields({
  text,
  calls: listOf(fields({ tool: text, input: mapping }, ["tool", "input"])),
  usage: fields({
    input: count(1e9),
    cachedInput: count(1e9),
    output: count(1e9),
    reasoning: count(1e9),
  }),
  latencyMs: count(maxLatencyMs),
  fault,
});

const personas: Rule = (value, path) =>
  mapping(value, path) ??
  first(
    Object.entries(value as JsonObject).map(
      ([name, attempts]) =>
        () =>
          listOf(listOf(turn))(attempts, `${path}.${name}`),
    ),
  );

/** The first thing that is wrong with a script. */
export const scriptProblem = (script: JsonObject): ScriptProblem | undefined =>
  fields({ seed: count(Number.MAX_SAFE_INTEGER), latencyMs: count(maxLatencyMs), personas })(script, "");
