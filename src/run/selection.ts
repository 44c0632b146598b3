import { advise } from "../domain/advice.ts";
import { didYouMean } from "../domain/closest.ts";
import { InputInvalid, SessionConflict } from "../domain/errors.ts";
import type { Direction } from "../journal/journal.ts";
import { isAccepted, type SessionState } from "../journal/session-state.ts";
import { orderPhases } from "../team/definition/order.ts";
import type { PhaseDefinition, TeamDefinition } from "../team/definition/team-definition.ts";

/** The phases to go through now, in order; those that are accepted already among them. */
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
    throw new InputInvalid("No phase is left between what was asked for.", {
      details: { ...direction },
      advice: `The order is: ${order.join(", ")}. Let what you name come after each other in it.`,
    });
  }
  // Who says where to begin has all that comes before it, or what a given phase rests on would run after it.
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

/** Names that no phase of the team has. */
export function refuseUnknown(
  definition: TeamDefinition,
  { only = [], from, until, pauseAfter = [] }: Direction,
): void {
  const order = orderPhases(definition);
  for (const name of [...only, from, until, ...pauseAfter]) {
    if (name !== undefined && !order.includes(name)) throw unknownPhase(name, order);
  }
}

/** Whether everything the team plans is done and accepted. */
export function isComplete(definition: TeamDefinition, state: SessionState): boolean {
  return definition.phases.every(({ name }) => isAccepted(state.phases.get(name)));
}

/** A phase runs on what the phases before it left: they are here, come before it now, or are given. */
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
  throw new InputInvalid(`Phase ${needy.join(", and phase ")}, and there is none.`, {
    details: { missing: [...missing] },
    advice: `Run ${list} first, or bring it: ${[...missing].map((name) => `--given ${name}=<folder or file>`).join(" ")}`,
  });
}

export function unknownPhase(name: string, known: readonly string[]): InputInvalid {
  return new InputInvalid(`There is no phase "${name}".${didYouMean(name, known)}`, {
    details: { phase: name, known },
    advice: `The phases are: ${known.join(", ")}.`,
  });
}
