import { Problems } from "../../../src/team/definition/place.ts";
import { readTeam } from "../../../src/team/definition/read-team.ts";
import type { TeamDefinition } from "../../../src/team/definition/team-definition.ts";

type Written = Readonly<Record<string, unknown>>;

/** A persona as a file has it, with work enough to be valid. */
export const works = (more: Written = {}): Written => ({ instructions: "Do it.", ...more });

/** A team as a file has it: the phases, with a working persona for each name that is not described. */
export function fileTeam(phases: readonly unknown[], personas: Written = {}, more: Written = {}): Written {
  const named = phases.flatMap((phase) => (phase as { personas?: unknown })?.personas ?? []) as unknown[];
  const described = named.filter((name) => typeof name === "string").map((name) => [name, works()]);
  return { name: "team", phases, personas: { ...Object.fromEntries(described), ...personas }, ...more };
}

/** Everything that is wrong with a team as a file has it. */
export function problemsOf(written: unknown): readonly string[] {
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
  return definition;
}
