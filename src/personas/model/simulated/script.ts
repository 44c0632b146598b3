import { readFile, stat } from "node:fs/promises";
import { didYouMean } from "../../../domain/closest.ts";
import { ConfigInvalid } from "../../../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject, toJsonText } from "../../../domain/json.ts";

export type SimulatedFault =
  | { readonly status: number; readonly retryAfter?: string | number; readonly message?: string }
  | { readonly kind: "reset" | "cut" | "garbage" | "overflow" | "empty" | "silence" };

interface SimulatedCall {
  readonly tool: string;
  readonly input: JsonObject;
}

/** One answer of the model. */
export interface SimulatedTurn {
  readonly text?: string;
  readonly calls?: readonly SimulatedCall[];
  /** Counted from the texts when missing. */
  readonly usage?: {
    readonly input?: number;
    readonly cachedInput?: number;
    readonly output?: number;
    readonly reasoning?: number;
  };
  readonly latencyMs?: number;
  /** Replaces the turn for the first `times` calls of a process. */
  readonly fault?: SimulatedFault & { readonly times?: number };
}

/** The answers of a simulated model. */
export interface SimulatedScript {
  /** Ids and the pieces that text comes in depend on it. */
  readonly seed?: number;
  /** Before each answer, unless its turn says otherwise. */
  readonly latencyMs?: number;
  /**
   * By persona, or by "phase/persona": the turns of each attempt. The last attempt's turns serve for all later ones. A
   * persona that is not listed delivers what its contract asks for; turns that do not submit are followed by one that does.
   */
  readonly personas?: Readonly<Record<string, readonly (readonly SimulatedTurn[])[]>>;
}

/** From outside: a file, or whatever a program passed. */
export function parseScript(value: Json, where: string): SimulatedScript {
  const problem = isJsonObject(value) ? scriptProblem(value) : { path: "", what: "is not a mapping" };
  if (problem === undefined) return value as SimulatedScript;
  const place = problem.path === "" ? "it" : `"${problem.path}"`;
  throw new ConfigInvalid(`${where} is not a script for the simulated model: ${place} ${problem.what}.`, {
    advice: "A script has personas; each is a list of attempts; each attempt is a list of turns.",
    details: { where, path: problem.path },
  });
}

interface ScriptProblem {
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
const scriptProblem = (script: JsonObject): ScriptProblem | undefined =>
  fields({ seed: count(Number.MAX_SAFE_INTEGER), latencyMs: count(maxLatencyMs), personas })(script, "");

const maxFileBytes = 4 * 1024 * 1024;

/** A script from a YAML or JSON file. */
export async function loadScript(file: string): Promise<SimulatedScript> {
  const text = await read(file);
  const { parse } = await import("yaml");
  let value: Json;
  try {
    value = parse(text, { maxAliasCount: 100 }) as Json;
    // Aliases may have made a small file large.
    toJsonText(value, { what: file, maxDepth: 64 });
  } catch (cause) {
    const [reason = ""] = (cause as Error).message.split("\n");
    throw new ConfigInvalid(`${file} cannot be read as YAML: ${reason}`, {
      details: { file },
      cause,
      advice: "Correct the file; MAESTRO_SIMULATED_SCRIPT names it.",
    });
  }
  return parseScript(value, file);
}

async function read(file: string): Promise<string> {
  try {
    const { size } = await stat(file);
    if (size <= maxFileBytes) return await readFile(file, "utf8");
  } catch (cause) {
    throw new ConfigInvalid(`The script ${file} of the simulated model cannot be read.`, {
      advice: "Check the path.",
      details: { file },
      cause,
    });
  }
  throw new ConfigInvalid(`The script ${file} is larger than ${maxFileBytes} bytes.`, { details: { file } });
}
