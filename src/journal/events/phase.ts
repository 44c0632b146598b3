import type { GateResult } from "../../domain/contract.ts";
import { gateResult, personaChecks } from "../judgment-values.ts";
import { editOf } from "../reset-phase.ts";
import * as is from "../schema.ts";
import { changeCardPhase, type SessionCard, withoutExhausted } from "../session-card.ts";
import {
  emptyPersona,
  type PersonaState,
  type PhaseSource,
  personaOf,
  phaseOf,
  type SessionState,
} from "../session-state.ts";
import { giveUp, withPersona, withPhase } from "../update.ts";
import { filesEdit, journalHead, type PhaseContent, phaseContent, sessionUsage } from "../values.ts";
import { always, event, nothing } from "./define.ts";

export const phaseEvents = {
  "phase.started": event({
    row: is.object({
      phase: is.name,
      /** The files of earlier phases, if there are any. */
      tree: is.optional(is.sha256),
      /** Where earlier phases left different versions, as sentences. */
      clashes: is.optional(is.list(is.text)),
    }),
    card: (card, { phase, tree }) =>
      card && {
        phases: changeCardPhase(card, phase, {
          status: "running",
          ...(tree !== undefined && { base: tree }),
        }),
        exhausted: withoutExhausted(card, { phase }),
        ...reviewed(card, phase),
      },
    reduce: (state, { phase, tree, clashes = [] }) =>
      withPhase(state, phase, { status: "running", base: tree, clashes }),
    fact: nothing,
    logged: "sentence",
    sentence: () => "started",
    isTransition: true,
  }),
  /** The members of a group are done and their trees are merged. */
  "group.merged": event({
    row: is.object({ phase: is.name, group: is.whole, tree: is.optional(is.sha256) }),
    reduce: (state, { phase, group, tree }) =>
      withPhase(state, phase, { groups: new Map(phaseOf(state, phase).groups).set(group, tree) }),
    fact: nothing,
    logged: "sentence",
    sentence: () => "merged the files of its personas",
    isQuiet: always,
  }),
  "phase.completed": event({
    row: is.object({
      phase: is.name,
      tree: is.optional(is.sha256),
      gate: is.optional(gateResult),
      checks: is.optional(is.list(personaChecks)),
      /** A person's edit of an earlier revision, merged again. */
      edit: is.optional(filesEdit),
      /** A person must approve before later phases build on it. */
      awaitsReview: is.optional(is.literal(true)),
    }),
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
    fact: ({ gate, awaitsReview = false }) => ({ gate: gateFact(gate), awaitsReview }),
    logged: "sentence",
    sentence: ({ gate, awaitsReview }) =>
      `completed${gateClause(gate)}${awaitsReview ? ", waits for review" : ""}`,
    mark: () => "good",
    isTransition: true,
  }),
  /** A person replaced its content: a new revision. */
  "phase.edited": event({
    row: phaseContent,
    card: (card, { phase }) =>
      card && {
        phases: changeCardPhase(card, phase, { status: "completed" }),
        lastPhase: phase,
        ...reviewed(card, phase),
      },
    reduce: (state, entry, { at }) => editPhase(state, entry, at),
    fact: nothing,
    logged: "sentence",
    sentence: () => "edited by a person",
    said: ({ phase }) => ({ action: "edit", text: `edited ${phase}` }),
    mark: () => "sealed",
    isTransition: true,
  }),
  /** Its input equals that of an earlier result, which is reused: not run, not paid. */
  "persona.reused": event({
    row: is.object({ phase: is.name, persona: is.name, input: is.label }),
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
    fact: nothing,
    logged: "sentence",
    sentence: () => "reused its result: its inputs have not changed",
    mark: () => "reused",
  }),
  /** A checkpoint covers the rows up to `head`. */
  "checkpoint.sealed": event({
    row: is.object({
      phase: is.name,
      revision: is.positive,
      sha256: is.sha256,
      head: journalHead,
      /** Digest of all transition rows up to `head`. */
      transitions: is.sha256,
      /** Number of steps up to `head`. */
      steps: is.whole,
      /** Usage of the session by then, as in the checkpoint. */
      usage: is.optional(is.list(sessionUsage)),
    }),
    card: (card) => ({ checkpoints: (card?.checkpoints ?? 0) + 1 }),
    reduce(state, { phase, revision, sha256, head, steps, transitions }, { at }) {
      const sealedAt = phaseOf(state, phase).completedAt ?? at;
      const after = [...state.seals.values()].at(-1)?.head.seq ?? state.createdHead.seq;
      const sealed = { phase, revision, sha256, head, transitions, after, at: sealedAt };
      return {
        ...withPhase(state, phase, { checkpoint: { revision, sha256 } }),
        seals: new Map(state.seals).set(`${phase} ${revision}`, sealed),
        recoveries: 0,
        // Steps before a seal are not read again.
        stepCount: Math.max(state.stepCount, steps),
      };
    },
    fact: ({ revision, sha256 }) => ({ revision, sha256 }),
    logged: "sentence",
    sentence: ({ revision, sha256 }) => `sealed revision ${revision}, ${sha256.slice(0, 12)}`,
    mark: () => "sealed",
    isTransition: true,
  }),
};

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
    // An edit does not change the files that the phase began with.
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

/** The phase no longer awaits review. */
const reviewed = ({ review }: SessionCard, phase: string): Partial<SessionCard> =>
  review?.phase === phase ? { review: null } : {};

export interface GateFact {
  readonly threshold: number | null;
  readonly score: number | null;
  readonly verdict: GateResult["verdict"] | null;
}

export function gateFact(gate: GateResult | null | undefined): GateFact | null {
  if (gate === undefined || gate === null) return null;
  const { threshold = null, score = null, verdict } = gate;
  return { threshold, score, verdict };
}

/** ", gate 0.88 of 0.80"; empty if no gate was judged. */
export function gateClause(gate: GateFact | null): string {
  if (gate === null || gate.score === null) return "";
  return gate.threshold === null
    ? `, score ${gate.score.toFixed(2)}`
    : `, gate ${gate.score.toFixed(2)} of ${gate.threshold.toFixed(2)}`;
}
