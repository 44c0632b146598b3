import type { Contract } from "../domain/contract.ts";
import { personaOf, phaseOf, type SessionState } from "../journal/session-state.ts";
import type { Perform, TeamContext } from "../personas/function.ts";
import type { Guide } from "../personas/guidance.ts";
import { defaultMaxOutputTokens } from "../personas/model/call-limits.ts";
import type { PersonaPolicy } from "../personas/tools/tool-runner.ts";
import type { Team } from "../team/define.ts";
import { runnerSettings } from "../team/definition/default-protect.ts";
import { ancestorsOf } from "../team/definition/order.ts";
import type {
  PersonaDefinition,
  PhaseDefinition,
  TeamDefinition,
} from "../team/definition/team-definition.ts";
import type { ProtectionRules } from "../workspace/protection.ts";
import type { TeamDrive } from "./drive.ts";
import type { Healer } from "./healing/healer.ts";
import { PersonaGuide } from "./persona-guide.ts";
import { hiddenFrom, keptHome } from "./read-rules.ts";
import type { TreeRef } from "./trees.ts";

/** Healing may raise a limit of the team by this factor. */
const mostRaised = 4;

export interface PersonaWork {
  readonly phase: string;
  readonly persona: string;
  readonly perform: Perform;
  /** A model or an agent that fails equally on equal files ends its round. A function may succeed by the time. */
  readonly givesUpEarly: boolean;
  readonly brief: string;
  readonly guide: Guide;
  readonly context: TeamContext;
  /** Fingerprint of everything the persona reads. */
  readonly input: string;
  /** The files it sees, by the hash of their manifest. */
  readonly base: string | undefined;
  /** The files of its first attempt: those it sees, with its earlier work on top. */
  readonly begins: string | undefined;
  /** The artifacts that a row with both trees refers to. */
  readonly baseArtifacts: readonly string[];
  readonly notes: readonly string[];
  readonly contract: Contract;
  /** Attempts per round, if the team sets them. */
  readonly maxAttempts: number | null;
  /** How long an attempt may make no progress. */
  readonly timeoutMs: number;
  /** Healing may raise the limit up to this. */
  readonly maxTimeoutMs: number;
  /** The length of a model's answer and how far healing may raise it, if the team sets it. */
  readonly outputTokens: { readonly limit: number; readonly most: number } | undefined;
  readonly policy: PersonaPolicy;
  /** The initial files of the phase, and which of them it may not change. */
  readonly protection: { readonly base: string | undefined; readonly rules: () => ProtectionRules };
  /** None when healing is off. */
  readonly healers: readonly Healer[];
  readonly model: string | undefined;
  readonly fallbackModels: readonly string[];
}

/** The remaining work of a persona; undefined when it is done or its result is reused. */
export async function workFor(
  phase: PhaseDefinition,
  persona: PersonaDefinition,
  start: TreeRef,
  drive: TeamDrive,
): Promise<PersonaWork | undefined> {
  const { team, journal, inputs, trees } = drive;
  const state = personaOf(journal.state, phase.name, persona.name);
  if (state.result !== undefined) return undefined;
  const { tree, artifacts } = await trees.visible(phase, persona, start);
  const input = inputs.input(phase, persona, tree);
  if (isTakenOver(journal.state, phase.name, persona.name, input)) {
    const row = { phase: phase.name, persona: persona.name, input } as const;
    const { spent = [] } = state.candidate ?? {};
    const of = { kind: "reuse", phase: phase.name, persona: persona.name } as const;
    const savings = spent.map((amount) => ({ ...of, ...amount }));
    await journal.append([{ kind: "persona.reused", ...row }], { artifacts, savings });
    return undefined;
  }
  const { work } = persona;
  const model = modelOf(team, journal.state);
  const timeoutMs = persona.timeoutMs ?? drive.timeoutMs;
  const { own } = state.beginning ?? {};
  const begins =
    own === undefined
      ? { tree, artifacts }
      : await trees.merge(own.base, { tree, artifacts, conflicts: [] }, own.tree);
  return {
    phase: phase.name,
    persona: persona.name,
    perform: drive.performOf(team, model)(phase, persona),
    givesUpEarly: work.kind !== "function",
    brief: journal.state.created.brief,
    guide: new PersonaGuide(persona, journal.state.created.source, drive.artifacts),
    context: inputs.context(phase, persona),
    input,
    base: tree,
    begins: begins.tree,
    baseArtifacts: begins.artifacts,
    notes: inputs.notes(phase),
    contract: persona.contract,
    maxAttempts: persona.maxAttempts,
    timeoutMs,
    maxTimeoutMs: timeoutMs * mostRaised,
    outputTokens: work.kind === "model" ? raisable(work.maxOutputTokens) : undefined,
    policy: persona.policy,
    protection: {
      base: (await trees.withGiven(phase.name, phaseOf(journal.state, phase.name).base)).tree,
      rules: () => ({
        ...protectionRules(team.definition, phase, persona, journal.state),
        inputs: drive.setupInputs ?? [],
      }),
    },
    healers: persona.healing ? drive.healers : [],
    model: work.kind === "model" ? (work.model ?? model) : undefined,
    fallbackModels: work.kind === "model" ? work.fallbackModels : [],
  };
}

function protectionRules(
  definition: TeamDefinition,
  phase: PhaseDefinition,
  { contract, mayChange, policy }: PersonaDefinition,
  { created: { source } }: SessionState,
): Omit<ProtectionRules, "inputs"> {
  const [whyHidden, whyHome] = [hiddenFrom(policy, source), keptHome(source)];
  const earlier = new Set(ancestorsOf(definition, phase.name));
  return {
    delivered: definition.phases.flatMap(({ name, personas }) =>
      earlier.has(name) ? personas.flatMap((persona) => deliveredBy(name, persona)) : [],
    ),
    delivers: contract.deliverables.map(({ files }) => files),
    protect: definition.protect,
    // Without a repository the team makes its own.
    settings: source === undefined || definition.protect.length === 0 ? [] : runnerSettings,
    mayMakeInputs: source === undefined,
    mayChange,
    whyHidden: (path) => whyHidden?.(path) ?? whyHome(path),
  };
}

const deliveredBy = (phase: string, { name, contract }: PersonaDefinition): ProtectionRules["delivered"] =>
  contract.deliverables.map(({ files }) => ({ phase, persona: name, files }));

/** The model of personas that name none. */
export function modelOf(
  { definition }: Pick<Team, "definition">,
  { created }: SessionState,
): string | undefined {
  return created.model ?? definition.model ?? undefined;
}

/** Whether a known result of the persona is reused, given the fingerprint of what it reads now. */
export function isTakenOver(state: SessionState, phase: string, persona: string, input: string): boolean {
  const { candidate, reopened, attempts } = personaOf(state, phase, persona);
  // An attempt in this session, running or failed, replaces the result of the forked session.
  const touched = reopened !== undefined || attempts.at(-1)?.revision === phaseOf(state, phase).revision;
  return candidate?.input === input && !touched;
}

/** Not above the default for models without a limit: a provider may refuse more. */
function raisable(limit: number | null): PersonaWork["outputTokens"] {
  if (limit === null) return undefined;
  return { limit, most: Math.max(limit, Math.min(mostRaised * limit, defaultMaxOutputTokens)) };
}
