import { InputInvalid } from "../domain/errors.ts";
import type { ForkOrigin, PaidAmount, Transition } from "../domain/journal.ts";
import type { RecordedSteps } from "../domain/recorded-steps.ts";
import { filesOf } from "../domain/restored-checkpoint.ts";
import {
  isAccepted,
  type PersonaState,
  type PhaseState,
  type SessionState,
} from "../domain/session-state.ts";
import {
  changedPersonas,
  describeChanges,
  joinedPhases,
  rejudgedPhases,
  rewiredPhases,
} from "./definition/changes.ts";
import { ancestorsOf, dependentsOf, orderPhases } from "./definition/order.ts";
import { recordedDefinition } from "./definition/recorded.ts";
import type { TeamDefinition } from "./definition/team-definition.ts";
import { unknownPhase } from "./selection.ts";

/**
 * Phases that a fork takes over as they are: everything that the phase it starts at rests on, the edited ones, and those
 * beside it that are done and that neither an edit nor a change of the team can reach.
 */
export function takenOver(
  definition: TeamDefinition,
  parent: SessionState,
  fork: ForkOrigin,
): readonly string[] {
  const order = orderPhases(definition);
  if (!order.includes(fork.at)) throw unknownPhase(fork.at, order);
  const edited = new Set(fork.edited.map(({ phase }) => phase));
  const kept = new Set([...ancestorsOf(definition, fork.at), ...edited]);
  const again = from(definition, fork);
  const changed = changedPhases(recordedDefinition(parent.created.definition), definition);
  const restsOn = new Map(definition.phases.map(({ name, dependsOn }) => [name, dependsOn]));
  for (const name of order) {
    const phase = parent.phases.get(name);
    const isAsItWas = isAccepted(phase) && (!changed.has(name) || isFromOutside(phase));
    const before = restsOn.get(name) ?? [];
    if (isAsItWas && !again.has(name) && before.every((other) => kept.has(other) && !edited.has(other)))
      kept.add(name);
  }
  return order.filter((name) => kept.has(name));
}

/** Phases that a fork knows nothing of, because they were asked for afresh. */
export function begunAfresh(definition: TeamDefinition, fork: ForkOrigin): ReadonlySet<string> {
  return fork.fresh ? from(definition, fork) : new Set();
}

const from = (definition: TeamDefinition, { at }: ForkOrigin): ReadonlySet<string> =>
  new Set([at, ...dependentsOf(definition, at)]);

/** What can be refused is refused before the fork exists. */
export function checkFork(definition: TeamDefinition, parent: SessionState, fork: ForkOrigin): void {
  const kept = takenOver(definition, parent, fork);
  const edited = new Set(fork.edited.map(({ phase }) => phase));
  for (const name of kept) refuseContradiction(definition, name, { parent, fork, kept, edited });
  for (const name of kept) {
    if (isAccepted(parent.phases.get(name))) continue;
    throw new InputInvalid(`Session ${parent.id} has no accepted result of phase ${name} to take over.`, {
      details: { session: parent.id, phase: name },
      advice: `Fork at ${name} or before, or let the session finish that phase first.`,
    });
  }
  refuseChanged(definition, parent, kept);
}

/** What is taken over stays as it was made: a change of the team before the phase it starts at would do nothing. */
function refuseChanged(definition: TeamDefinition, parent: SessionState, kept: readonly string[]): void {
  const { id, created, phases } = parent;
  const before = recordedDefinition(created.definition);
  const changed = changedPhases(before, definition);
  const name = kept.find((name) => changed.has(name) && !isFromOutside(phases.get(name)));
  if (name === undefined) return;
  const all = describeChanges(before, definition);
  const own = all.filter((change) => change.startsWith(`phase ${name}: `));
  const changes = own.length > 0 ? own : all;
  throw new InputInvalid(
    `Phase ${name} is not as it was when it ran, and would be taken over: ${changes.join("; ")}.`,
    {
      details: { session: id, phase: name, changes },
      advice: `Leave it as it was, or let it be gone through again: maestro fork ${id} --at ${name} --team <file>`,
    },
  );
}

/** It is what it is, whoever would make it now: nobody here made it. */
const isFromOutside = (phase: PhaseState | undefined): boolean => phase?.source.kind === "given";

/** Phases whose results could be others with the new team. */
function changedPhases(before: TeamDefinition, after: TeamDefinition): ReadonlySet<string> {
  return new Set([
    ...changedPersonas(before, after).map(({ phase }) => phase),
    ...joinedPhases(before, after),
    ...rejudgedPhases(before, after),
    ...rewiredPhases(before, after),
  ]);
}

/** A phase is taken over only if all it rests on is as it was: an edit under it would be without effect. */
function refuseContradiction(
  definition: TeamDefinition,
  name: string,
  {
    parent: { id },
    fork: { at },
    kept,
    edited,
  }: {
    readonly parent: SessionState;
    readonly fork: ForkOrigin;
    readonly kept: readonly string[];
    readonly edited: ReadonlySet<string>;
  },
): void {
  const before = ancestorsOf(definition, name);
  const changed = before.find((other) => edited.has(other));
  if (changed !== undefined)
    throw new InputInvalid(
      `Phase ${name} rests on ${changed}, which is edited, and would be taken over as it was.`,
      {
        details: { session: id, at, phase: name, edited: changed },
        advice: `Let it run again: maestro fork ${id} --at ${name} --edit ${changed}=<file>`,
      },
    );
  const anew = before.find((other) => !kept.includes(other));
  if (anew === undefined) return;
  const [after] = dependentsOf(definition, name);
  throw new InputInvalid(`Phase ${name} is edited and rests on ${anew}, which would run again under it.`, {
    details: { session: id, at, phase: name },
    advice:
      after === undefined
        ? `Nothing rests on ${name}; edit it where it is: maestro resume ${id} --edit ${name}=<file>`
        : `Fork behind it: maestro fork ${id} --at ${after} --edit ${name}=<file>`,
  });
}

/** A phase as the parent left it, and then as a person edited it. */
export function rowsOfPhase(name: string, fork: ForkOrigin, parent: SessionState): Transition[] {
  const phase = parent.phases.get(name);
  const personas = [...(phase?.personas ?? [])];
  const edited = fork.edited.find((edit) => edit.phase === name);
  return [
    {
      kind: "phase.inherited",
      phase: name,
      results: Object.fromEntries(
        personas.flatMap(([persona, { result }]) => (result === undefined ? [] : [[persona, result]])),
      ),
      ...(phase?.base !== undefined && { base: phase.base }),
      ...(phase?.tree !== undefined && { tree: phase.tree }),
      revision: phase?.revision ?? 1,
      personas: Object.fromEntries(personas.map(([persona, known]) => [persona, filesOf(known)])),
      ...(phase?.edit !== undefined && { edit: phase.edit }),
      ...(phase?.gate !== undefined && { gate: phase.gate }),
      ...(phase?.checks !== undefined && phase.checks.length > 0 && { checks: phase.checks }),
      ...(phase !== undefined && phase.notes.length > 0 && { notes: phase.notes }),
      ...(phase?.source.kind === "given" && { origin: phase.source.origin }),
    },
    ...(edited === undefined ? [] : [{ kind: "phase.edited", ...edited } as const]),
  ];
}

/** Also a phase that the parent's team no longer has: the team of the fork may have it again. */
export const everKnown = ({ phases, removed }: SessionState, phase: string): PhaseState | undefined =>
  phases.get(phase) ?? removed.get(phase);

/** What the parent knows of a persona, if it is of any use: a result, steps to go on with, what people said. */
export function rowOfPersona(
  phase: string,
  persona: string,
  parent: SessionState,
  spent: readonly PaidAmount[] = [],
): Transition | undefined {
  const { personas, notes = [], edit } = everKnown(parent, phase) ?? {};
  const known = personas?.get(persona);
  // A fork that has not come so far still knows what its own parent knew.
  const {
    result,
    input,
    base,
    tree,
    checks = [],
  } = (known?.result === undefined && known?.candidate) || known || {};
  const isDone = result !== undefined && input !== undefined;
  const hasSteps =
    known !== undefined && (known.candidate !== undefined || stepsAtHand(known, parent).length > 0);
  if (!isDone && !hasSteps && notes.length === 0 && edit === undefined) return undefined;
  return {
    kind: "persona.inherited",
    phase,
    persona,
    ...(isDone && { input, result }),
    ...(isDone && base !== undefined && { base }),
    ...(isDone && tree !== undefined && { tree }),
    ...(isDone && checks.length > 0 && { checks }),
    ...(isDone && spent.length > 0 && { spent }),
    ...(notes.length > 0 && { notes }),
    ...(edit !== undefined && { edit }),
  };
}

/** Of a phase that is taken over: its result is there; what it cost and its steps are for a fork of the fork. */
export function rowOfKeptPersona(
  phase: string,
  persona: string,
  parent: SessionState,
  spent: readonly PaidAmount[],
): Transition | undefined {
  const known = parent.phases.get(phase)?.personas.get(persona);
  if (known === undefined || (known.attempts.length === 0 && known.candidate === undefined)) return undefined;
  return { kind: "persona.inherited", phase, persona, ...(spent.length > 0 && { spent }) };
}

/** What whoever resumes the session has at hand: of an attempt under way, of one that an outage ended, of those given up. */
export function stepsAtHand(
  { attempts, inheritance, leftover }: PersonaState,
  { running }: SessionState,
): readonly RecordedSteps[] {
  const underWay = running.get(attempts.at(-1)?.started ?? 0)?.steps ?? inheritance;
  return [leftover, underWay].filter((steps) => steps !== undefined);
}
