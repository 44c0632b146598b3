import { ConfigInvalid } from "../../../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../domain/json.ts";
import { scriptProblem } from "./script-problem.ts";

export type SimulatedFault =
  | { readonly status: number; readonly retryAfter?: string | number; readonly message?: string }
  | { readonly kind: "reset" | "cut" | "garbage" | "overflow" | "empty" | "silence" };

export interface SimulatedCall {
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
