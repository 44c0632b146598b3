import { personaOf, phaseOf, type SessionState } from "../domain/session-state.ts";
import type { PersonaWork } from "../execution/attempt-run.ts";
import { defaultMaxOutputTokens } from "../models/call-limits.ts";
import type { SessionJournal } from "../state/session-journal.ts";
import type { PersonaDefinition, PhaseDefinition } from "./definition/team-definition.ts";
import type { Readings } from "./readings.ts";
import type { SessionTrees, TreeRef } from "./trees.ts";

/** What is left to do for a persona; undefined when it is done or its result can be taken over. */
export type WorkOf = (
  phase: PhaseDefinition,
  persona: PersonaDefinition,
  start: TreeRef,
) => Promise<PersonaWork | undefined>;

/** Healing may raise a limit to so many times what the team says. */
const mostRaised = 4;

export interface WorkParts {
  readonly journal: SessionJournal;
  readonly readings: Readings;
  readonly trees: SessionTrees;
  readonly timeoutMs: number;
  readonly performOf: (phase: PhaseDefinition, persona: PersonaDefinition) => PersonaWork["perform"];
  readonly healers: PersonaWork["healers"];
  readonly model: string | undefined;
}

/** Whether the result that is known of a persona counts here, now that this is what it reads. */
export function isTakenOver(state: SessionState, phase: string, persona: string, input: string): boolean {
  const { candidate, reopened, attempts } = personaOf(state, phase, persona);
  // An attempt under way or failed means that its own work counts, not that of the forked session.
  const touched = reopened !== undefined || attempts.at(-1)?.revision === phaseOf(state, phase).revision;
  return candidate?.input === input && !touched;
}

export function worksOf(parts: WorkParts): WorkOf {
  const { journal, readings, trees } = parts;
  return async (phase, persona, start) => {
    const state = personaOf(journal.state, phase.name, persona.name);
    if (state.result !== undefined) return undefined;
    const { tree, artifacts } = await trees.visible(phase, persona, start);
    const input = readings.input(phase, persona, tree);
    if (isTakenOver(journal.state, phase.name, persona.name, input)) {
      const row = { phase: phase.name, persona: persona.name, input } as const;
      const { spent = [] } = state.candidate ?? {};
      const of = { kind: "reuse", phase: phase.name, persona: persona.name } as const;
      const savings = spent.map((amount) => ({ ...of, ...amount }));
      await journal.append([{ kind: "persona.reused", ...row }], { artifacts, savings });
      return undefined;
    }
    const { work } = persona;
    const { own } = state.beginning ?? {};
    const begins =
      own === undefined
        ? { tree, artifacts }
        : await trees.merge(own.base, { tree, artifacts, conflicts: [] }, own.tree);
    return {
      phase: phase.name,
      persona: persona.name,
      perform: parts.performOf(phase, persona),
      brief: journal.state.created.brief,
      context: readings.context(phase, persona),
      input,
      base: tree,
      begins: begins.tree,
      baseArtifacts: begins.artifacts,
      notes: readings.notes(phase),
      contract: persona.contract,
      timeoutMs: persona.timeoutMs ?? parts.timeoutMs,
      maxTimeoutMs: (persona.timeoutMs ?? parts.timeoutMs) * mostRaised,
      outputTokens: work.kind === "model" ? raisable(work.maxOutputTokens) : undefined,
      policy: persona.policy,
      healers: persona.healing ? parts.healers : [],
      model: work.kind === "model" ? (work.model ?? parts.model) : undefined,
      fallbackModels: work.kind === "model" ? work.fallbackModels : [],
    };
  };
}

/** Not above what every model gets that has no limit of its own: a provider may refuse more. */
function raisable(limit: number | null): PersonaWork["outputTokens"] {
  if (limit === null) return undefined;
  return { limit, most: Math.max(limit, Math.min(mostRaised * limit, defaultMaxOutputTokens)) };
}
