import { personaOf, phaseOf, type SessionState } from "../journal/session-state.ts";
import { defaultMaxOutputTokens } from "../personas/model/call-limits.ts";
import type { SessionJournal } from "../store/session-journal.ts";
import type { PersonaDefinition, PhaseDefinition } from "../team/definition/team-definition.ts";
import type { PersonaWork } from "./attempt-run.ts";
import type { Readings } from "./persona-inputs.ts";
import type { SessionTrees, TreeRef } from "./trees.ts";

/** The remaining work of a persona; undefined when it is done or its result is reused. */
export type WorkOf = (
  phase: PhaseDefinition,
  persona: PersonaDefinition,
  start: TreeRef,
) => Promise<PersonaWork | undefined>;

/** Healing may raise a limit of the team by this factor. */
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

/** Whether a known result of the persona counts, given the fingerprint of what it reads now. */
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
      maxAttempts: persona.maxAttempts,
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

/** Not above the default for models without a limit: a provider may refuse more. */
function raisable(limit: number | null): PersonaWork["outputTokens"] {
  if (limit === null) return undefined;
  return { limit, most: Math.max(limit, Math.min(mostRaised * limit, defaultMaxOutputTokens)) };
}
