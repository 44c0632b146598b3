import { type Amount, microsToUsd } from "../../domain/budget.ts";
import { isoTime, isoTimeOrNull } from "../../domain/iso-time.ts";
import type { SessionView } from "../../index.ts";
import type { AttemptTrail, Chronicle } from "../../journal/chronicle.ts";
import type { CardHold } from "../../journal/session-card.ts";
import type { SessionState } from "../../journal/session-state.ts";
import type { AttemptView, PersonaView } from "../schemas/session.ts";
import { activityView } from "./activity.ts";
import { heldView } from "./held.ts";
import type { Present } from "./situation.ts";
import { usageView } from "./usage.ts";

type ShownPersona = SessionView["phases"][number]["personas"][number];

/** A timeline with more lanes omits single steps. */
const mostLanesWithSteps = 50;

export interface PersonaContext {
  readonly state: SessionState;
  readonly chronicle: Chronicle;
  readonly present: Present;
  readonly held: readonly CardHold[];
  readonly attemptCosts: ReadonlyMap<number, Amount>;
  readonly usageOf: (phase: string, persona: string) => Parameters<typeof usageView>[0];
  readonly limits: { readonly maxAttempts: number; readonly maxRounds: number };
  readonly maxAttemptsOf: (phase: string, persona: string) => number | undefined;
}

/** A persona of `show`, with the times of its steps and waits. */
export function personaView(
  phase: string,
  shown: ShownPersona,
  lanes: number,
  context: PersonaContext,
): PersonaView {
  const { state, present, held, limits } = context;
  const { name, status } = shown;
  const known = state.phases.get(phase)?.personas.get(name);
  const attempts = known?.attempts ?? [];
  const hold = held.find((each) => each.phase === phase && each.persona === name);
  const started = attempts.at(-1)?.started;
  const last = context.chronicle.trailOf(started);
  return {
    ...shown,
    usage: usageView(context.usageOf(phase, name)),
    attempts: shown.attempts.map((attempt, index) =>
      attemptView(attempt, attempts[index]?.started, lanes, context),
    ),
    maxAttempts: context.maxAttemptsOf(phase, name) ?? limits.maxAttempts,
    maxRounds: limits.maxRounds,
    activity:
      status === "running" && started !== undefined && last !== undefined
        ? activityView(last, context.chronicle.pendingTools(started))
        : null,
    held:
      status === "completed" || status === "reused" ? null : heldView(hold, present.breakers, present.now),
  };
}

function attemptView(
  shown: ShownPersona["attempts"][number],
  started: number | undefined,
  lanes: number,
  { chronicle, attemptCosts }: PersonaContext,
): AttemptView {
  const trail: AttemptTrail | undefined = chronicle.trailOf(started);
  const cost = started === undefined ? undefined : attemptCosts.get(started);
  const showsSteps = lanes <= mostLanesWithSteps;
  return {
    ...shown,
    status: shown.status as AttemptView["status"],
    failure: shown.failure === null ? null : { ...shown.failure },
    costUsd: cost === undefined ? 0 : cost.microUsd === null ? null : microsToUsd(cost.microUsd),
    healed: shown.healing.some(({ outcome }) => outcome === "passed"),
    healing: shown.healing.map((each) => ({ ...each, did: { ...each.did } })),
    waits: (trail?.waits ?? []).map(({ dependency, from, until }) => ({
      dependency,
      from: isoTime(from),
      until: isoTimeOrNull(until),
    })),
    modelSteps: showsSteps ? [...(trail?.modelSteps ?? [])] : [],
    toolSteps: showsSteps ? [...(trail?.toolSteps ?? [])] : [],
  };
}
