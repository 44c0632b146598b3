import { checkTeam } from "./check-team.ts";
import { Fields } from "./fields.ts";
import { itemsOf } from "./kinds.ts";
import { definitionLimits } from "./limits.ts";
import { Place, type Problems } from "./place.ts";
import type { Form } from "./read-persona.ts";
import { Personas } from "./read-personas.ts";
import { type ReadPersona, type ReadPhase, readPhase } from "./read-phase.ts";
import type { TeamDefinition } from "./team-definition.ts";
import { teamSection } from "./team-keys.ts";

const { $schema: _schema, phases: phasesKey, personas: _personas, ...recordedKeys } = teamSection.keys;

/** The definition of a written team. Complete only if `problems` stays empty. */
export function readTeam(value: unknown, form: Form, problems: Problems): TeamDefinition | undefined {
  const place = new Place(problems, "the team", []);
  const known = Object.keys(form === "file" ? teamSection.keys : { ...recordedKeys, phases: phasesKey });
  const fields = Fields.of(value, place, teamSection, known);
  if (fields === undefined) return undefined;
  if (form === "file") fields.read("$schema");
  const recorded = fields.all(recordedKeys);
  const personas = new Personas(form === "file" ? fields.read("personas") : undefined, place, form);
  const phases = readPhases(fields.read("phases"), place.at("phases"), (item, at, phase) =>
    personas.read(item, at, phase),
  );
  if (phases === undefined) return undefined;
  if (phases.every(({ hasPersonas }) => hasPersonas)) personas.reportUnused();
  checkTeam(phases, recorded ?? { budget: null }, problems);
  if (recorded === undefined) return undefined;
  const { planning, ...definition } = recorded;
  return {
    ...definition,
    ...(planning !== undefined && planning !== "off" && { planning }),
    phases: phases.map((phase) => phase.definition),
  };
}

/** `undefined` if there are no phases to check, or too many. */
function readPhases(
  value: unknown,
  place: Place,
  readPersona: (item: unknown, place: Place, phase: string) => ReadPersona | undefined,
): readonly ReadPhase[] | undefined {
  if (value === undefined) return undefined;
  const items = itemsOf(value, place, phasesKey.kind.allowed, definitionLimits.phases);
  if (items === undefined) return undefined;
  const used = items.reduce((sum, [item]) => sum + personaCount(item), 0);
  if (used > definitionLimits.personas) {
    place.problem(`have ${used} personas together; at most ${definitionLimits.personas} are allowed.`);
    return undefined;
  }
  const phases: ReadPhase[] = [];
  for (const [item, at] of items) {
    phases.push(readPhase(item, at, phases.at(-1)?.definition.name, readPersona));
  }
  return phases;
}

function personaCount(phase: unknown): number {
  const personas = (phase as { readonly personas?: unknown } | null | undefined)?.personas;
  return Array.isArray(personas) ? personas.length : 0;
}
