import { TeamInvalid } from "../../domain/errors.ts";
import { type Graph, reachFrom, sortGraph, turnAround } from "./graph.ts";
import type { PersonaDefinition, PhaseDefinition } from "./team-definition.ts";

/** The part of a team that its order depends on. */
export interface PhaseOrder {
  readonly phases: readonly Pick<PhaseDefinition, "name" | "dependsOn">[];
}

/** Phase names, each after all its dependencies; otherwise as declared. */
export function orderPhases(definition: PhaseOrder): string[] {
  return [...sorted(phaseGraph(definition), "phases")];
}

/** All phases that must be done before this one, in the order they run. */
export function ancestorsOf(definition: PhaseOrder, phase: string): string[] {
  const reached = reachFrom(phaseGraph(definition), phase);
  return orderPhases(definition).filter((name) => reached.has(name));
}

/** All phases that wait for this one, directly or not, in the order they run. */
export function dependentsOf(definition: PhaseOrder, phase: string): string[] {
  const reached = reachFrom(turnAround(phaseGraph(definition)), phase);
  return orderPhases(definition).filter((name) => reached.has(name));
}

/** Groups run in order, the members of one group at once: each member reads at most the results of earlier groups. */
export function groupsOf<P extends Pick<PersonaDefinition, "name" | "consumes">>(phase: {
  readonly name: string;
  readonly personas: readonly P[];
}): P[][] {
  const graph = personaGraph(phase.personas);
  const groupOf = new Map<string, number>();
  for (const name of sorted(graph, `personas of phase "${phase.name}"`)) {
    const before = (graph.get(name) ?? []).map((other) => groupOf.get(other) ?? 0);
    groupOf.set(
      name,
      before.reduce((most, group) => Math.max(most, group + 1), 0),
    );
  }
  const groups = Array.from({ length: Math.max(0, ...new Set(groupOf.values())) + 1 }, (): P[] => []);
  for (const persona of phase.personas) groups[groupOf.get(persona.name) ?? 0]?.push(persona);
  return groups;
}

export const phaseGraph = ({ phases }: PhaseOrder): Graph =>
  new Map(phases.map(({ name, dependsOn }) => [name, dependsOn]));

/**
 * The order of personas inside a phase. A persona's own name in `consumes` means the same persona in an earlier
 * phase.
 */
export function personaGraph(personas: readonly Pick<PersonaDefinition, "name" | "consumes">[]): Graph {
  const members = new Set(personas.map(({ name }) => name));
  return new Map(
    personas.map(({ name, consumes }) => [
      name,
      (consumes ?? []).filter((other) => other !== name && members.has(other)),
    ]),
  );
}

function sorted(graph: Graph, what: string): readonly string[] {
  const { order, cycles } = sortGraph(graph);
  const [cycle] = cycles;
  if (cycle === undefined) return order;
  throw new TeamInvalid(`The ${what} wait for each other: ${cycle.join(" -> ")}.`, {
    details: { cycle },
    advice: "Remove one of them from the cycle.",
  });
}
