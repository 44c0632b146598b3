import type { PersonaView, PhaseView, SessionChange, SessionView } from "../api/types.ts";

/** Applies a change of the stream. Unchanged parts keep their identity. */
export function applyChange(
  view: SessionView,
  { session, phases, personas, ...lists }: SessionChange,
): SessionView {
  let next: PhaseView[] | undefined;
  const replace = (name: string, change: (phase: PhaseView) => PhaseView): void => {
    next ??= [...view.phases];
    const index = next.findIndex((phase) => phase.name === name);
    const found = next[index];
    if (found !== undefined) next[index] = change(found);
  };
  for (const header of phases ?? []) {
    if (view.phases.some(({ name }) => name === header.name))
      replace(header.name, (phase) => ({ ...phase, ...header }));
    else next = [...(next ?? view.phases), { ...header, personas: [] }];
  }
  for (const [phase, changed] of Map.groupBy(personas ?? [], ({ phase }) => phase)) {
    const byName = new Map(changed.map(({ persona }) => [persona.name, persona]));
    replace(phase, (found) => ({ ...found, personas: withPersonas(found.personas, byName) }));
  }
  return { ...view, ...session, ...lists, ...(next !== undefined && { phases: next }) };
}

function withPersonas(
  personas: readonly PersonaView[],
  changed: ReadonlyMap<string, PersonaView>,
): readonly PersonaView[] {
  const known = new Set(personas.map(({ name }) => name));
  const kept = personas.map((persona) => changed.get(persona.name) ?? persona);
  const added = [...changed.values()].filter(({ name }) => !known.has(name));
  return added.length === 0 ? kept : [...kept, ...added];
}
