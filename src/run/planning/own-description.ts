import type { PersonaDefinition } from "../../team/definition/team-definition.ts";
import { type Expertise, expertises } from "./classification.ts";
import { findSigns } from "./find-signs.ts";

/** Weight of a phrase that names an expertise: a mere mention does not count. */
const veryName = 3;
const mostCharacters = 400;

/** The expertise of a persona, by its name or the first sentence of its instructions. */
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
