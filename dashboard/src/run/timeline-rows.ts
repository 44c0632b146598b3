import type { PersonaView, PhaseView } from "../api/types.ts";
import { kindOf, type PersonaKind } from "./persona-state.ts";

/** A phase with more personas is shown as squares. */
export const hugePhase = 50;

export type TimelineRow =
  | { readonly kind: "phase"; readonly phase: PhaseView; readonly expanded: boolean }
  | { readonly kind: "persona"; readonly phase: PhaseView; readonly persona: PersonaView }
  | { readonly kind: "squares"; readonly phase: PhaseView };

interface RowsState {
  /** Phases that the reader opened or closed. The others follow the rule. */
  readonly toggled: ReadonlyMap<string, boolean>;
  /** The personas of a huge phase that have lanes. */
  readonly filter: PersonaKind | undefined;
}

/** Finished and unreached phases are folded. */
function isExpanded(phase: PhaseView, toggled: ReadonlyMap<string, boolean>): boolean {
  return toggled.get(phase.name) ?? ["running", "stopped", "failed"].includes(phase.status);
}

export function timelineRows(phases: readonly PhaseView[], { toggled, filter }: RowsState): TimelineRow[] {
  return phases.flatMap((phase): TimelineRow[] => {
    const expanded = isExpanded(phase, toggled);
    const head: TimelineRow = { kind: "phase", phase, expanded };
    if (!expanded) return [head];
    if (phase.personas.length <= hugePhase)
      return [head, ...phase.personas.map((persona): TimelineRow => ({ kind: "persona", phase, persona }))];
    const shown = filter ?? firstKind(phase.personas);
    const lanes = phase.personas.filter((persona) => kindOf(persona) === shown);
    return [
      head,
      { kind: "squares", phase },
      ...lanes.map((persona): TimelineRow => ({ kind: "persona", phase, persona })),
    ];
  });
}

const kindOrder: readonly PersonaKind[] = ["failed", "held", "running", "stopped", "completed", "pending"];

/** The first kind that has personas, starting with failures. */
export function firstKind(personas: readonly PersonaView[]): PersonaKind {
  const kinds = new Set(personas.map(kindOf));
  return kindOrder.find((kind) => kinds.has(kind)) ?? "pending";
}

/** Failures first, then waiting, running, done and pending. Sorted by name within each kind. */
export function squaresOf(
  personas: readonly PersonaView[],
): { readonly kind: PersonaKind; readonly name: string }[] {
  return personas
    .map((persona) => ({ kind: kindOf(persona), name: persona.name }))
    .sort((a, b) => kindOrder.indexOf(a.kind) - kindOrder.indexOf(b.kind));
}

export function kindCounts(
  personas: readonly PersonaView[],
): readonly { readonly kind: PersonaKind; readonly count: number }[] {
  const counts = new Map<PersonaKind, number>();
  for (const persona of personas) counts.set(kindOf(persona), (counts.get(kindOf(persona)) ?? 0) + 1);
  return kindOrder.flatMap((kind) => {
    const count = counts.get(kind);
    return count === undefined ? [] : [{ kind, count }];
  });
}
