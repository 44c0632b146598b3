import { sortGraph } from "./graph.ts";
import type { Problems } from "./place.ts";
import type { ReadPhase } from "./read-phase.ts";
import { shown } from "./shown.ts";

/** Checks names and order of the phases. Returns whether the order is known. */
export function checkPhases(phases: readonly ReadPhase[], problems: Problems): boolean {
  const before = problems.count;
  checkNames(phases);
  checkDependencies(phases, problems);
  checkCycles(phases);
  return problems.count === before;
}

/** Phases become file names, and some disks ignore case. */
function checkNames(phases: readonly ReadPhase[]): void {
  const seen = new Map<string, string>();
  for (const { definition, place } of phases) {
    const { name } = definition;
    const other = seen.get(name.toLowerCase());
    if (other === name) place.problem("is there twice.");
    else if (other !== undefined)
      place.problem(`differs from phase ${shown(other)} in upper and lower case only.`);
    else seen.set(name.toLowerCase(), name);
  }
}

function checkDependencies(phases: readonly ReadPhase[], problems: Problems): void {
  const names = phases.map(({ definition }) => definition.name);
  const known = new Set(names);
  for (const { definition, place, followsByDefault } of phases) {
    for (const [index, name] of followsByDefault ? [] : definition.dependsOn.entries()) {
      const at = place.at("dependsOn").at(index).as(place.title);
      if (name === definition.name) at.problem("depends on itself.");
      else if (!known.has(name)) {
        const hint = problems.suggest(name, names);
        at.problem(`depends on ${shown(name)}, and there is no such phase.${hint}`);
      }
    }
  }
}

/** A phase in a cycle, or after one, would never start. */
function checkCycles(phases: readonly ReadPhase[]): void {
  // If phases share a name, the first one counts. Duplicates and self-dependencies are reported elsewhere.
  const byName = new Map(phases.toReversed().map((phase) => [phase.definition.name, phase]));
  const graph = new Map(
    [...byName].map(([name, { definition }]) => [
      name,
      definition.dependsOn.filter((other) => other !== name),
    ]),
  );
  const inOrder = new Map(phases.map(({ definition: { name } }) => [name, graph.get(name) ?? []]));
  const { order, cycles } = sortGraph(inOrder);
  for (const cycle of cycles) {
    const follower = cycle.find((name) => byName.get(name)?.followsByDefault);
    const hint =
      follower === undefined
        ? ""
        : ` Phase "${follower}" depends on the phase before it by default; dependsOn: [] makes it start at once.`;
    const place = byName.get(cycle[0] ?? "")?.place;
    place?.problem(`can never start, for it depends on itself: ${cycle.join(" -> ")}.${hint}`);
  }
  const stuck = new Set(cycles.flat());
  for (const name of order) {
    const other = stuck.has(name) ? undefined : graph.get(name)?.find((dependency) => stuck.has(dependency));
    if (other === undefined) continue;
    stuck.add(name);
    byName.get(name)?.place.problem(`can never start: it depends on "${other}", which never does.`);
  }
}
