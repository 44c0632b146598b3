import type { PersonaDefinition } from "../definition/team-definition.ts";
import { type Expertise, expertises } from "./classification.ts";
import { findSigns } from "./find-signs.ts";

/** Weight of the words that an expertise is called by: what is only mentioned does not count. */
const veryName = 3;
const mostCharacters = 400;

/** What a persona says it is there for: by its name, or else by the first sentence of its instructions. */
export function expertiseOf({ name, work }: Pick<PersonaDefinition, "name" | "work">): readonly Expertise[] {
  const named = expertiseIn(name.replaceAll(/[_-]+/g, " ").replaceAll(/(?<=[a-z])(?=[A-Z])/g, " "));
  if (named.length > 0) return named;
  const instructions = work.kind === "function" ? "" : (work.instructions ?? "");
  const [first = ""] = instructions.slice(0, mostCharacters).split(/(?<=[.!?])\s|\n/, 1);
  return expertiseIn(first);
}

function expertiseIn(text: string): readonly Expertise[] {
  const found = new Set(
    findSigns(text).signs.flatMap(({ meaning, isRefused }) =>
      meaning.of === "expertise" && meaning.weight >= veryName && !isRefused ? [meaning.name] : [],
    ),
  );
  const said = text.toLowerCase().split(/[^a-z]+/);
  return expertises.filter((name) => found.has(name) || said.includes(name));
}
