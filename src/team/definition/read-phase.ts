import { isName, nameRule } from "../../domain/names.ts";
import { initPhase } from "../../state/checkpoint.ts";
import { Fields } from "./fields.ts";
import { numberBetween, oneOf, word, yesOrNo } from "./kinds.ts";
import type { Place } from "./place.ts";
import { readBudget } from "./read-budget.ts";
import { shown } from "./shown.ts";
import type { GateDefinition, PersonaDefinition, PhaseDefinition } from "./team-definition.ts";

/** A persona in a phase, with where it is named and where it is described. */
export interface ReadPersona {
  readonly definition: PersonaDefinition;
  readonly place: Place;
  readonly described: Place;
  /** Characters that it takes up in the record. */
  readonly size: number;
  /** Nothing was wrong with it: what it lacks, it lacks on purpose. */
  readonly isSound: boolean;
}

export interface ReadPhase {
  readonly definition: PhaseDefinition;
  readonly place: Place;
  readonly personas: readonly ReadPersona[];
  /** It says who is in it, rightly or not. */
  readonly hasPersonas: boolean;
  /** Nobody said what it depends on: the phase before, then. */
  readonly followsByDefault: boolean;
}

const hints = {
  needs: "Write dependsOn instead.",
  after: "Write dependsOn instead.",
  agents: "Write personas instead.",
  consumes: "Write dependsOn instead, or consumes in the persona.",
};

const threshold = numberBetween(0, 1, "a number from 0 to 1, such as 0.75");

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
  // A name that nobody can write: what has none is neither found nor there twice.
  const phase = name ?? `#${place.path.join(".")}`;
  if (name !== undefined && !isName(name)) named.remark(`the name is not allowed. ${nameRule}`);
  if (name?.toLowerCase() === initPhase) named.remark("the checkpoint of the start has this name.");
  const fields = Fields.of(value, named, {
    allowed: "an object with name and personas",
    keys: ["name", "dependsOn", "personas", "gate", "review", "budget"],
    hints,
  });
  if (fields?.lacks("name")) named.problem('has no "name".');
  const items = fields?.items("personas", "a list of personas", Number.POSITIVE_INFINITY);
  if (fields?.isEmpty("personas")) named.problem("has no personas.");
  const dependsOn = fields?.set("dependsOn", word("the name of a phase"), "a list of names of phases");
  const personas = (items ?? []).flatMap(([item, at]) => readPersona(item, at, phase) ?? []);
  return {
    place: named,
    personas,
    hasPersonas: items !== undefined,
    followsByDefault: dependsOn === undefined && before !== undefined,
    definition: {
      name: phase,
      dependsOn: dependsOn ?? (before === undefined ? [] : [before]),
      gate: fields === undefined ? null : readGate(fields),
      review: fields?.read("review", yesOrNo) ?? false,
      budget: fields === undefined ? null : readBudget(fields, "budget"),
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

/** `0.75`, or `{ threshold: 0.75, onFail: "warn" }`. */
function readGate(phase: Fields): GateDefinition | null {
  if (!phase.has("gate")) return null;
  const value = phase.value("gate");
  if (typeof value !== "object" || value === null) {
    const limit = phase.read("gate", threshold);
    return limit === undefined ? null : { threshold: limit, onFail: "review" };
  }
  const shape = {
    allowed: "a number from 0 to 1, or an object with threshold and onFail",
    keys: ["threshold", "onFail"],
  };
  const fields = Fields.of(value, phase.place.at("gate"), shape);
  const limit = fields?.required("threshold", threshold);
  const onFail = fields?.read("onFail", oneOf("review", "warn")) ?? "review";
  return limit === undefined ? null : { threshold: limit, onFail };
}
