import { sortGraph } from "./graph.ts";
import { personaGraph } from "./order.ts";
import type { Problems } from "./place.ts";
import { Providers } from "./providers.ts";
import type { ReadPhase } from "./read-phase.ts";
import { shown } from "./shown.ts";

/** A persona consumes only from personas that exist and finish before it starts. */
export function checkConsumes(phases: readonly ReadPhase[], isOrdered: boolean, problems: Problems): void {
  const providers = new Providers({ phases: phases.map(({ definition }) => definition) });
  for (const phase of phases) {
    checkTwice(phase);
    checkCycles(phase);
    for (const persona of phase.personas) {
      const { name: consumer, consumes } = persona.definition;
      for (const [index, name] of (consumes ?? []).entries()) {
        const { described, place } = persona;
        const at = described.at("consumes").at(index);
        if (providers.homes(name) === 0n) {
          const hint = problems.suggest(name, providers.personaNames);
          at.as(described.title).problem(`consumes ${shown(name)}, and there is no such persona.${hint}`);
        } else if (isOrdered) {
          // The order of phases is unknown if they have problems of their own.
          const fault = faultOf(name, consumer, phase.definition.name, providers);
          if (fault !== undefined) at.as(place.title).problem(fault);
        }
      }
    }
  }
}

function faultOf(name: string, consumer: string, phase: string, providers: Providers): string | undefined {
  if (providers.providing(name, phase, consumer) !== 0n) return undefined;
  const homes = providers.homes(name);
  const names = providers.phaseNames(homes);
  if (names.length === 1 && names[0] === phase) return "consumes itself.";
  const where = names.filter((home) => home !== phase).map(shown);
  const listed = `phase ${where.slice(0, 3).join(", ")}${where.length > 3 ? " and others" : ""}`;
  return providers.anyAfter(homes, phase)
    ? `consumes ${shown(name)}, which comes later, in ${listed}.`
    : `consumes ${shown(name)} of ${listed}, which its phase does not wait for. Add ${where[0]} to dependsOn of phase ${shown(phase)}.`;
}

function checkTwice({ definition, personas }: ReadPhase): void {
  const seen = new Set<string>();
  for (const { definition: persona, place } of personas) {
    if (seen.has(persona.name)) {
      place.as(`phase ${shown(definition.name)}`).problem(`has persona ${shown(persona.name)} twice.`);
    }
    seen.add(persona.name);
  }
}

function checkCycles({ definition, place, personas }: ReadPhase): void {
  const { cycles } = sortGraph(personaGraph(personas.map((persona) => persona.definition)));
  for (const cycle of cycles) {
    const first = personas.find((persona) => persona.definition.name === cycle[0]);
    (first?.described ?? place)
      .as(`phase ${shown(definition.name)}`)
      .problem(`has personas that wait for each other: ${cycle.join(" -> ")}.`);
  }
}
