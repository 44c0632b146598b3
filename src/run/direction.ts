import { advise } from "../domain/advice.ts";
import { canonicalJson } from "../domain/canonical.ts";
import { didYouMean } from "../domain/closest.ts";
import { InputInvalid, SessionConflict } from "../domain/errors.ts";
import { newSessionId } from "../domain/ids.ts";
import type { Direction, Transition } from "../journal/journal.ts";
import { emptyState, isAccepted, type SessionState } from "../journal/session-state.ts";
import { withPhase } from "../journal/update.ts";
import type { Team } from "../team/define.ts";
import { orderPhases } from "../team/definition/order.ts";
import type { PhaseDefinition, TeamDefinition } from "../team/definition/team-definition.ts";

/** `pauseAfter` holds for the session until it is set again. The other members hold for one drive. */
export function nextDirection({ pauseAfter }: Direction, wanted: Direction = {}): Direction {
  return pauseAfter === undefined ? wanted : { pauseAfter, ...wanted };
}

export function isSameDirection(one: Direction, other: Direction): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

/** The row that records a new direction; none if it does not change. */
export function directionRows(recorded: Direction, wanted: Direction | undefined): Transition[] {
  const next = nextDirection(recorded, wanted);
  return isSameDirection(next, recorded) ? [] : [{ kind: "session.directed", ...next }];
}

/** The direction in the options of a start, without undefined members. */
export function directionOf({
  only,
  from,
  until,
  pauseAfter,
}: { readonly [Key in keyof Direction]?: Direction[Key] | undefined }): Direction {
  return {
    ...(only !== undefined && { only }),
    ...(from !== undefined && { from }),
    ...(until !== undefined && { until }),
    ...(pauseAfter !== undefined && { pauseAfter }),
  };
}

/** The phases that a new session runs. Refuses an impossible direction before the session exists. */
export function phasesOfStart(
  { definition }: Team,
  direction: Direction,
  given: readonly string[],
): readonly PhaseDefinition[] {
  const state = given.reduce(
    (known, name) => withPhase(known, name, { status: "completed" }),
    emptyState(newSessionId()),
  );
  return selectPhases(definition, state, direction).filter(({ name }) => !given.includes(name));
}

/** The phases of this drive in order, including those that are already accepted. */
export function selectPhases(
  definition: TeamDefinition,
  state: SessionState,
  direction: Direction,
): readonly PhaseDefinition[] {
  refuseUnknown(definition, direction);
  const order = orderPhases(definition);
  const { only, from, until } = direction;
  const last = until === undefined ? order.length - 1 : order.indexOf(until);
  const first = from === undefined ? 0 : order.indexOf(from);
  const wanted = new Set(
    order.filter(
      (name, place) => place >= first && place <= last && (only === undefined || only.includes(name)),
    ),
  );
  const phases = new Map(definition.phases.map((phase) => [phase.name, phase]));
  const chosen = order.flatMap((name) => (wanted.has(name) ? (phases.get(name) ?? []) : []));
  if (chosen.length === 0) {
    throw new InputInvalid("The direction selects no phase.", {
      details: { ...direction },
      advice: `The order is: ${order.join(", ")}. Name phases in this order.`,
    });
  }
  // With `from`, all phases before it must be accepted: otherwise a dependency of a given phase would run after it.
  const furtherBack = (name: string) => (from === undefined ? [] : (phases.get(name)?.dependsOn ?? []));
  const missingFor = ({ dependsOn }: PhaseDefinition) => {
    const before = new Set(dependsOn.filter((name) => !wanted.has(name)));
    for (const needed of before)
      for (const name of furtherBack(needed)) if (!wanted.has(name)) before.add(name);
    if (before.size === 0) return [];
    return order.filter((name) => before.has(name) && !isAccepted(state.phases.get(name)));
  };
  refuseMissing(chosen, state, missingFor);
  return chosen;
}

/** Refuses names that no phase of the team has. */
export function refuseUnknown(
  definition: TeamDefinition,
  { only = [], from, until, pauseAfter = [] }: Direction,
): void {
  const order = orderPhases(definition);
  for (const name of [...only, from, until, ...pauseAfter]) {
    if (name !== undefined && !order.includes(name)) throw unknownPhase(name, order);
  }
}

/** Whether all phases of the team are completed and accepted. */
export function isComplete(definition: TeamDefinition, state: SessionState): boolean {
  return definition.phases.every(({ name }) => isAccepted(state.phases.get(name)));
}

/** The dependencies of a phase must be accepted, or run before it in this drive. */
function refuseMissing(
  chosen: readonly PhaseDefinition[],
  state: SessionState,
  missingFor: (phase: PhaseDefinition) => readonly string[],
): void {
  const missing = new Set<string>();
  const needy: string[] = [];
  for (const phase of chosen) {
    const { name } = phase;
    if (isAccepted(state.phases.get(name))) continue;
    const lacking = missingFor(phase);
    if (lacking.length > 0) needy.push(`${name} needs a result of ${lacking.join(", ")}`);
    for (const needed of lacking) missing.add(needed);
  }
  if (missing.size === 0) return;
  const waiting = [...missing].filter((name) => state.phases.get(name)?.review === "awaiting");
  if (waiting.length > 0) {
    const wait = waiting.length === 1 ? "waits" : "wait";
    throw new SessionConflict(
      `Phase ${needy.join(", and phase ")}: ${waiting.join(", ")} ${wait} for review.`,
      {
        details: { session: state.id, missing: [...missing], waiting },
        advice: waiting.map((name) =>
          advise(`Review ${name}, then approve it`, "approve", state.id, "--phase", name),
        ),
      },
    );
  }
  const list = [...missing].join(", ");
  throw new InputInvalid(`Phase ${needy.join(", and phase ")}, which has not run.`, {
    details: { missing: [...missing] },
    advice: `Run ${list} first, or pass its output: ${[...missing].map((name) => `--given ${name}=<folder or file>`).join(" ")}`,
  });
}

export function unknownPhase(name: string, known: readonly string[]): InputInvalid {
  return new InputInvalid(`There is no phase "${name}".${didYouMean(name, known)}`, {
    details: { phase: name, known },
    advice: `The phases are: ${known.join(", ")}.`,
  });
}
