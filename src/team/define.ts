import { fingerprint } from "../domain/canonical.ts";
import { didYouMean } from "../domain/closest.ts";
import { TeamInvalid } from "../domain/errors.ts";
import type { Json } from "../domain/json.ts";
import { isName, nameRule } from "../domain/names.ts";
import type { PersonaFunction } from "../execution/persona-context.ts";
import { initPhase } from "../state/checkpoint.ts";

export interface PersonaOptions {
  /** The persona's work, as code. */
  readonly run: PersonaFunction;
  /** The "give up" threshold: attempts a round; the configuration's by default. */
  readonly maxAttempts?: number;
  /** How long an attempt may stand still before it is ended; the configuration's by default. */
  readonly timeoutMs?: number;
}

export interface Persona extends PersonaOptions {
  readonly name: string;
}

export interface PhaseOptions {
  readonly personas: readonly Persona[];
}

export interface Phase<Name extends string = string> extends PhaseOptions {
  readonly name: Name;
}

export interface TeamOptions<PhaseName extends string> {
  readonly model?: string;
  readonly phases: readonly Phase<PhaseName>[];
}

export interface Team<PhaseName extends string = string> extends TeamOptions<PhaseName> {
  readonly name: string;
  /** What the team is, as data: recorded with each session and in its checkpoints. */
  readonly definition: Json;
  readonly fingerprint: string;
}

export function persona(name: string, options: PersonaOptions): Persona {
  return Object.freeze({ name, ...options });
}

export function phase<const Name extends string>(name: Name, options: PhaseOptions): Phase<Name> {
  return Object.freeze({ name, ...options });
}

/** Checked here, so that a wrong team is an error before anything runs. */
export function defineTeam<const PhaseName extends string>(
  name: string,
  options: TeamOptions<PhaseName>,
): Team<PhaseName> {
  const problems = [...findProblems(name, options)];
  if (problems.length > 0) {
    throw new TeamInvalid(`Team "${name}" is not valid: ${problems.join(" ")}`, {
      details: { team: name, problems },
    });
  }
  const definition = {
    name,
    model: options.model ?? null,
    phases: options.phases.map((phase) => ({
      name: phase.name,
      personas: phase.personas.map((persona) => ({
        name: persona.name,
        work: "function",
        maxAttempts: persona.maxAttempts ?? null,
        timeoutMs: persona.timeoutMs ?? null,
      })),
    })),
  };
  return Object.freeze({ name, ...options, definition, fingerprint: fingerprint(definition) });
}

const keysOf = {
  team: ["model", "phases"],
  phase: ["name", "personas"],
  persona: ["name", "run", "maxAttempts", "timeoutMs"],
} as const;

function* findProblems(name: string, { phases, ...rest }: TeamOptions<string>): Generator<string> {
  if (!isName(name)) yield `the name "${name}" is not allowed (${nameRule}).`;
  yield* unknownKeys("the team", { phases, ...rest }, keysOf.team);
  if (!Array.isArray(phases) || phases.length === 0) return yield "it has no phases.";
  yield* duplicates(
    "phase",
    phases.map((phase) => phase.name),
  );
  for (const phase of phases) {
    const where = `phase "${phase.name}"`;
    if (!isName(phase.name)) yield `${where}: the name is not allowed (${nameRule}).`;
    if (phase.name === initPhase) yield `${where}: this name is taken by the checkpoint of the start.`;
    yield* unknownKeys(where, phase, keysOf.phase);
    if (!Array.isArray(phase.personas) || phase.personas.length === 0) {
      yield `${where} has no personas.`;
      continue;
    }
    yield* duplicates(
      `persona of ${where}`,
      phase.personas.map(({ name }: Persona) => name),
    );
    for (const persona of phase.personas as readonly Persona[]) yield* personaProblems(persona, where);
  }
}

function* personaProblems(persona: Persona, phase: string): Generator<string> {
  const where = `persona "${persona.name}" of ${phase}`;
  if (!isName(persona.name)) yield `${where}: the name is not allowed (${nameRule}).`;
  yield* unknownKeys(where, persona, keysOf.persona);
  if (typeof persona.run !== "function") yield `${where} has no work: give it a function "run".`;
  const { maxAttempts, timeoutMs } = persona;
  if (timeoutMs !== undefined && !(timeoutMs >= 1))
    yield `${where}: timeoutMs is ${timeoutMs}; it must be 1 or more.`;
  if (
    maxAttempts !== undefined &&
    !(Number.isInteger(maxAttempts) && maxAttempts >= 1 && maxAttempts <= 20)
  ) {
    yield `${where}: maxAttempts is ${maxAttempts}; it must be a whole number from 1 to 20.`;
  }
}

function* duplicates(what: string, names: readonly string[]): Generator<string> {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) yield `the ${what} "${name}" is there twice.`;
    seen.add(name);
  }
}

function* unknownKeys(where: string, value: object, known: readonly string[]): Generator<string> {
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) yield `${where} has an unknown key "${key}".${didYouMean(key, known)}`;
  }
}
