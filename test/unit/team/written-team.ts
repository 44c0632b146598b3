import type { Json } from "../../../src/domain/json.ts";
import { Problems } from "../../../src/team/definition/place.ts";
import { readTeam } from "../../../src/team/definition/read-team.ts";
import type { TeamDefinition } from "../../../src/team/definition/team-definition.ts";
import { teamSchema } from "../../../src/team/definition/team-schema.ts";
import { showProblem, validateJson } from "../../../src/workspace/json-schema.ts";

type Written = Readonly<Record<string, unknown>>;

/** A persona as a file has it, with work enough to be valid. */
export const works = (more: Written = {}): Written => ({ instructions: "Do it.", ...more });

/** A team as a file has it: the phases, with a working persona for each name that is not described. */
export function fileTeam(phases: readonly unknown[], personas: Written = {}, more: Written = {}): Written {
  const named = phases.flatMap((phase) => (phase as { personas?: unknown })?.personas ?? []) as unknown[];
  const described = named.filter((name) => typeof name === "string").map((name) => [name, works()]);
  return { name: "team", phases, personas: { ...Object.fromEntries(described), ...personas }, ...more };
}

/** All problems of a team as a file has it. Each such team is also held against team.schema.json. */
export function problemsOf(written: unknown): readonly string[] {
  const sentences = readerProblemsOf(written);
  holdAgainstSchema(written, sentences);
  return sentences;
}

/** Without the schema, for teams whose reading is timed and for limits in bytes, which a schema cannot count. */
export function readerProblemsOf(written: unknown): readonly string[] {
  const problems = new Problems();
  readTeam(written, "file", problems);
  return problems.found.map(({ sentence }) => sentence);
}

export function definitionOf(written: unknown): TeamDefinition {
  const problems = new Problems();
  const definition = readTeam(written, "file", problems);
  if (problems.count > 0 || definition === undefined) {
    throw new Error(problems.found.map(({ sentence }) => sentence).join("\n"));
  }
  holdAgainstSchema(written, []);
  return definition;
}

/** Rules that a JSON Schema cannot express: they compare one place of the file with another. */
export const beyondSchema: readonly RegExp[] = [
  /and there is no such (?:persona|phase)\./,
  / is in no phase\.$/,
  / depends on itself\.$/,
  / can never start/,
  / is there twice\.$/,
  / differs from phase .* in upper and lower case only\.$/,
  /: (?:contract\.deliverables|contract\.checks) has ".*" twice\.$/,
  / has personas that wait for each other/,
  / consumes (?:itself|".*", which comes later|".*" of phase)/,
  / delivers ".*", and .*: personas that work at once cannot deliver the same file/,
  / has a gate and nothing to judge/,
  / is a command under .* budget of/,
  / reserves .* for a run/,
  / names ".*", and its contract has no such check\./,
  /, which was tried before it\.$/,
  / have \d+ personas together/,
  / has \d+ characters in all its phases together/,
  /contract\.outputs: /,
];

/** The schema and the reader must agree on every team, save for the rules that a schema cannot express. */
export function holdAgainstSchema(written: unknown, problems: readonly string[]): void {
  const json = asJson(written);
  if (json === undefined) return;
  const refusals = validateJson(teamSchema(), json);
  const isShape = problems.some((problem) => !beyondSchema.some((rule) => rule.test(problem)));
  if (isShape === refusals.length > 0) return;
  const refusal = refusals.map(showProblem).join("\n") || "team.schema.json accepts the team";
  throw new Error(
    `The reader and team.schema.json disagree.\nreader: ${problems.join("\n")}\nschema: ${refusal}`,
  );
}

/** Undefined for values that no file can hold. */
function asJson(written: unknown): Json | undefined {
  try {
    return JSON.parse(JSON.stringify(written)) as Json;
  } catch {
    return undefined;
  }
}
