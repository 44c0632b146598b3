import { checkTeam } from "./check-team.ts";
import { Fields } from "./fields.ts";
import { name, oneOf, text, wholeNumber } from "./kinds.ts";
import { readModelName } from "./model-name.ts";
import { Place, type Problems } from "./place.ts";
import { readBudget } from "./read-budget.ts";
import { Personas } from "./read-personas.ts";
import { type ReadPersona, type ReadPhase, readPhase } from "./read-phase.ts";
import type { Form } from "./read-work.ts";
import { defaultParallel, definitionLimits, type TeamDefinition } from "./team-definition.ts";

const keys = ["name", "description", "model", "parallel", "budget", "planning", "phases"];

const hints = {
  stages: "Write phases instead.",
  steps: "Write phases instead.",
  agents: "Write personas instead.",
  roles: "Write personas instead.",
};

/** From what somebody wrote to plain data; only to be used when `problems` stays empty. */
export function readTeam(value: unknown, form: Form, problems: Problems): TeamDefinition | undefined {
  const place = new Place(problems, "the team", []);
  const fields = Fields.of(value, place, {
    allowed: "an object with name and phases",
    keys: form === "file" ? [...keys, "personas"] : keys,
    hints,
  });
  if (fields === undefined) return undefined;
  const description = fields.read("description", text(16 * 1024));
  const planned = fields.read("planning", oneOf("rules", "model", "off")) ?? "off";
  const definition = {
    name: fields.required("name", name) ?? "",
    ...(description !== undefined && { description }),
    model: fields.has("model") ? (readModelName(fields.value("model"), place.at("model")) ?? null) : null,
    parallel: fields.read("parallel", wholeNumber(1, 100)) ?? defaultParallel,
    budget: readBudget(fields, "budget"),
    ...(planned !== "off" && { planning: planned }),
  };
  const personas = new Personas(fields, form);
  const phases = readPhases(fields, (item, at, phase) => personas.read(item, at, phase));
  if (phases === undefined) return undefined;
  if (phases.every(({ hasPersonas }) => hasPersonas)) personas.reportUnused();
  checkTeam(phases, definition.budget, problems);
  return { ...definition, phases: phases.map((phase) => phase.definition) };
}

/** `undefined` when there are none to judge, or too many. */
function readPhases(
  fields: Fields,
  readPersona: (item: unknown, place: Place, phase: string) => ReadPersona | undefined,
): readonly ReadPhase[] | undefined {
  if (fields.isEmpty("phases")) {
    fields.place.problem("has no phases.");
    return undefined;
  }
  const items = fields.items("phases", "a list of phases", definitionLimits.phases);
  if (items === undefined) return undefined;
  const used = items.reduce((sum, [item]) => sum + personaCount(item), 0);
  if (used > definitionLimits.personas) {
    const limit = `at most ${definitionLimits.personas} are allowed`;
    fields.place.at("phases").problem(`have ${used} personas together; ${limit}.`);
    return undefined;
  }
  const phases: ReadPhase[] = [];
  for (const [item, place] of items) {
    phases.push(readPhase(item, place, phases.at(-1)?.definition.name, readPersona));
  }
  return phases;
}

function personaCount(phase: unknown): number {
  const personas = (phase as { readonly personas?: unknown } | null | undefined)?.personas;
  return Array.isArray(personas) ? personas.length : 0;
}
