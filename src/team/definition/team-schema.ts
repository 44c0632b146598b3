import type { Json, JsonObject } from "../../domain/json.ts";
import type { Key, Section } from "./fields.ts";
import { teamFileSections, teamSection } from "./team-keys.ts";

/** The JSON Schema of the team file. `npm run docs` writes it to team.schema.json, which editors read. */
export function teamSchema(): JsonObject {
  const named = teamFileSections.filter((section) => section !== teamSection);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Maestro team file",
    ...sectionSchema(teamSection),
    $defs: Object.fromEntries(named.map((section) => [section.name, sectionSchema(section)])),
  };
}

function sectionSchema({ sentence, keys, schema = {} }: Section): JsonObject {
  const entries = Object.entries(keys);
  const required = entries.filter(([, { absence }]) => absence.kind === "error").map(([name]) => name);
  return {
    description: sentence,
    type: "object",
    properties: Object.fromEntries(entries.map(([name, key]) => [name, keySchema(key)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    ...schema,
  };
}

function keySchema({ kind, sentence, example, absence, otherwise }: Key): JsonObject {
  const isEmptyRefused = absence.kind === "error" && absence.orEmpty;
  return {
    description: otherwise === undefined ? sentence : `${sentence} Default: ${otherwise}.`,
    ...kind.schema,
    ...(isEmptyRefused && { minItems: 1 }),
    ...(absence.kind === "default" && otherwise === undefined && { default: absence.value as Json }),
    examples: [example],
  };
}
