import type { Json } from "../domain/json.ts";
import { type Team, teamOf } from "../team/define.ts";
import { recordedDefinition } from "../team/definition/recorded.ts";

/** The team of a session from its own record; undefined when the code of a persona would be missing. */
export function recordedTeam(recorded: Json): Team | undefined {
  const definition = recordedDefinition(recorded);
  const needsCode = definition.phases.some(({ personas }) =>
    personas.some(({ work }) => work.kind === "function"),
  );
  return needsCode ? undefined : teamOf(definition, []);
}
