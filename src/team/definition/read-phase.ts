import { isName, nameRule } from "../../domain/names.ts";
import { initPhase } from "../../journal/checkpoint.ts";
import { Fields } from "./fields.ts";
import { itemsOf } from "./kinds.ts";
import type { Place } from "./place.ts";
import { shown } from "./shown.ts";
import type { PersonaDefinition, PhaseDefinition } from "./team-definition.ts";
import { phaseSection } from "./team-keys.ts";

/** A persona in a phase, with the place that names it and the place that describes it. */
export interface ReadPersona {
  readonly definition: PersonaDefinition;
  readonly place: Place;
  readonly described: Place;
  /** Characters in the recorded definition. */
  readonly size: number;
  /** It has no problem, so a missing key is intended. */
  readonly isSound: boolean;
}

export interface ReadPhase {
  readonly definition: PhaseDefinition;
  readonly place: Place;
  readonly personas: readonly ReadPersona[];
  /** It has a list of personas, right or wrong. */
  readonly hasPersonas: boolean;
  /** It has no `dependsOn`, so it depends on the phase before it. */
  readonly followsByDefault: boolean;
}

const { name: _name, dependsOn: _dependsOn, personas: personasKey, ...recordedKeys } = phaseSection.keys;

export function readPhase(
  value: unknown,
  place: Place,
  before: string | undefined,
  readPersona: (item: unknown, place: Place, phase: string) => ReadPersona | undefined,
): ReadPhase {
  const name = nameOf(value, place);
  const named = place.as(() =>
    name === undefined ? `phase ${Number(place.path.at(-1)) + 1}` : `phase ${shown(name)}`,
  );
  // No written name contains #, so a phase without a name is neither found nor a duplicate.
  const phase = name ?? `#${place.path.join(".")}`;
  if (name !== undefined && !isName(name)) named.remark(`the name is not allowed. ${nameRule}`);
  if (name?.toLowerCase() === initPhase) named.remark("the checkpoint of the start has this name.");
  const fields = Fields.of(value, named, phaseSection);
  if (fields?.lacks("name")) named.problem('has no "name".');
  const written = fields?.read("personas");
  const items =
    written === undefined
      ? undefined
      : itemsOf(written, named.at("personas"), personasKey.kind.allowed, Number.POSITIVE_INFINITY);
  const dependsOn = fields?.read("dependsOn");
  const personas = (items ?? []).flatMap(([item, at]) => readPersona(item, at, phase) ?? []);
  return {
    place: named,
    personas,
    hasPersonas: items !== undefined,
    followsByDefault: dependsOn === undefined && before !== undefined,
    definition: {
      gate: null,
      review: false,
      budget: null,
      ...fields?.all(recordedKeys),
      name: phase,
      dependsOn: dependsOn ?? (before === undefined ? [] : [before]),
      personas: personas.map(({ definition }) => definition),
    },
  };
}

function nameOf(value: unknown, place: Place): string | undefined {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, "name")) return undefined;
  const { name } = value as { readonly name?: unknown };
  if (typeof name === "string") return name;
  if (name !== undefined) place.at("name").problem(`is ${shown(name)}; it must be a name. ${nameRule}`);
  return undefined;
}
