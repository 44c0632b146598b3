import type { PhaseContent } from "../journal.ts";
import { editOf } from "../reset-phase.ts";
import { changeCardPhase, type SessionCard } from "../session-card.ts";
import {
  emptyPersona,
  type PersonaState,
  type PhaseSource,
  personaOf,
  phaseOf,
  type SessionState,
} from "../session-state.ts";
import { withPersona, withPhase } from "../update.ts";
import { giveUp } from "./attempt.ts";
import { defineEvents } from "./define.ts";

export const phaseEvents = defineEvents({
  "phase.started": {
    card: (card, { phase, tree }) =>
      card && {
        phases: changeCardPhase(card, phase, {
          status: "running",
          ...(tree !== undefined && { base: tree }),
        }),
        ...reviewed(card, phase),
      },
    reduce: (state, { phase, tree, clashes = [] }) =>
      withPhase(state, phase, { status: "running", base: tree, clashes }),
  },
  "group.merged": {
    reduce: (state, { phase, group, tree }) =>
      withPhase(state, phase, { groups: new Map(phaseOf(state, phase).groups).set(group, tree) }),
  },
  "phase.completed": {
    card(card, { phase, gate, tree, awaitsReview }) {
      if (card === undefined) return undefined;
      const { worked, base } = card.phases.find(({ name }) => name === phase) ?? {};
      const status = worked === undefined ? "reused" : "completed";
      return {
        phases: changeCardPhase(card, phase, { status, ...(gate !== undefined && { gate }) }),
        lastPhase: phase,
        ...(awaitsReview === true && {
          review: {
            phase,
            ...(gate !== undefined && { gate }),
            ...(base !== undefined && { base }),
            ...(tree !== undefined && { tree }),
          },
        }),
      };
    },
    reduce: (state, { phase, tree, edit, gate, checks = [], awaitsReview = false }, { at }) =>
      withPhase(state, phase, {
        status: "completed",
        completedAt: at,
        tree,
        edit,
        gate,
        checks,
        awaitedReview: awaitsReview,
        review: awaitsReview ? "awaiting" : "none",
      }),
  },
  "phase.edited": {
    card: (card, { phase }) =>
      card && {
        phases: changeCardPhase(card, phase, { status: "completed" }),
        lastPhase: phase,
        ...reviewed(card, phase),
      },
    reduce: (state, entry, { at }) => editPhase(state, entry, at),
  },
  "persona.reused": {
    reduce(before, entry, row) {
      const { state } = giveUp(before, entry, row);
      const { candidate } = personaOf(state, entry.phase, entry.persona);
      return withPersona(state, entry, {
        inheritance: undefined,
        result: candidate?.result,
        base: candidate?.base,
        tree: candidate?.tree,
        checks: candidate?.checks ?? [],
        input: entry.input,
        reused: true,
      });
    },
  },
  "checkpoint.sealed": {
    card: (card) => ({ checkpoints: (card?.checkpoints ?? 0) + 1 }),
    reduce(state, { phase, revision, sha256, head, steps }, { at }) {
      const sealedAt = phaseOf(state, phase).completedAt ?? at;
      const after = [...state.seals.values()].at(-1)?.head.seq ?? state.createdHead.seq;
      const sealed = { phase, revision, sha256, head, after, at: sealedAt };
      return {
        ...withPhase(state, phase, { checkpoint: { revision, sha256 } }),
        seals: new Map(state.seals).set(`${phase} ${revision}`, sealed),
        recoveries: 0,
        // Steps before a seal are not read again.
        stepCount: Math.max(state.stepCount, steps),
      };
    },
  },
});

/** A person's content for the phase: a new, approved revision. */
export function editPhase(state: SessionState, content: PhaseContent, at: number): SessionState {
  const phase = phaseOf(state, content.phase);
  const edited = completeWith(state, content, { kind: "edited" }, at);
  return withPhase(edited, content.phase, {
    revision: phase.revision + 1,
    edit: editOf(phase, content.tree),
    review: "approved",
  });
}

/** Completes a phase with content that no persona of this session made. */
export function completeWith(
  state: SessionState,
  { phase: name, results, base, tree, gate, checks = [] }: PhaseContent,
  source: PhaseSource,
  at: number,
): SessionState {
  const phase = phaseOf(state, name);
  const files = { ...(base && { base }), ...(tree && { tree }) };
  const personas = new Map(phase.personas);
  for (const [persona, result] of Object.entries(results)) {
    const before = personas.get(persona) ?? emptyPersona;
    // A consumer of a given result sees all files that came with it.
    const given: Partial<PersonaState> = source.kind === "given" ? { base, tree, input: undefined } : {};
    personas.set(persona, { ...before, result, ...given });
  }
  return withPhase(state, name, {
    status: "completed",
    completedAt: at,
    checkpoint: undefined,
    // An edit does not change what the phase began with.
    base: base ?? phase.base,
    tree,
    gate,
    checks,
    review: "none",
    awaitedReview: false,
    source,
    personas,
    ...(source.kind === "given" && { given: { origin: source.origin, ...files } }),
  });
}

/** The phase that awaited review does so no longer. */
const reviewed = ({ review }: SessionCard, phase: string): Partial<SessionCard> =>
  review?.phase === phase ? { review: null } : {};
