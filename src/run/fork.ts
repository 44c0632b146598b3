import { advise } from "../domain/advice.ts";
import { InputInvalid } from "../domain/errors.ts";
import { isFromOutside, staysGiven } from "../journal/from-outside.ts";
import type { ForkOrigin, PersonaSpent, Transition } from "../journal/journal.ts";
import { isAccepted, type SessionState } from "../journal/session-state.ts";
import {
  changedPersonas,
  describeChanges,
  joinedPhases,
  rejudgedPhases,
  rewiredPhases,
} from "../team/definition/changes.ts";
import { teamFingerprint } from "../team/definition/fingerprint.ts";
import { refuseBlocking } from "../team/definition/integration.ts";
import { ancestorsOf, dependentsOf, orderPhases } from "../team/definition/order.ts";
import { recordedDefinition } from "../team/definition/recorded.ts";
import type { TeamDefinition } from "../team/definition/team-definition.ts";
import { unknownPhase } from "./selection.ts";

/**
 * Phases that a fork takes over as they are: everything that the phase it starts at rests on, the edited ones, those
 * beside it that are done and that neither an edit nor a change of the team can reach, and what came from outside, unless
 * somebody has to work for it first or the fork starts there.
 */
export function takenOver(
  definition: TeamDefinition,
  parent: SessionState,
  fork: ForkOrigin,
): readonly string[] {
  const order = orderPhases(definition);
  if (!order.includes(fork.at)) throw unknownPhase(fork.at, order);
  const edited = new Set(fork.edited.map(({ phase }) => phase));
  const isLeftToJoined = (name: string) => whoJoined(definition, parent, name).length > 0;
  const before = ancestorsOf(definition, fork.at).filter((name) => !isLeftToJoined(name));
  const kept = new Set([...before, ...edited]);
  const again = from(definition, fork);
  const changed = changedPhases(recordedDefinition(parent.created.definition), definition);
  const phases = new Map(definition.phases.map((phase) => [phase.name, phase]));
  for (const name of order) {
    const phase = parent.phases.get(name);
    const { dependsOn = [], personas = [] } = phases.get(name) ?? {};
    const isAsItWas = isAccepted(phase) && !changed.has(name) && !again.has(name);
    const isGiven = name !== fork.at && staysGiven(phase, personas);
    if (isGiven || (isAsItWas && dependsOn.every((other) => kept.has(other) && !edited.has(other))))
      kept.add(name);
  }
  return order.filter((name) => kept.has(name));
}

/** Who is in a phase from outside and was given nothing. */
function whoJoined({ phases }: TeamDefinition, parent: SessionState, name: string): readonly string[] {
  const phase = parent.phases.get(name);
  if (!isFromOutside(phase)) return [];
  const { personas = [] } = phases.find((one) => one.name === name) ?? {};
  return personas.map((one) => one.name).filter((one) => phase?.personas.get(one)?.result === undefined);
}

const from = (definition: TeamDefinition, { at }: ForkOrigin): ReadonlySet<string> =>
  new Set([at, ...dependentsOf(definition, at)]);

/** What can be refused is refused before the fork exists. */
export function checkFork(definition: TeamDefinition, parent: SessionState, fork: ForkOrigin): void {
  const kept = takenOver(definition, parent, fork);
  const edited = new Set(fork.edited.map(({ phase }) => phase));
  for (const name of kept) refuseContradiction(definition, name, { parent, fork, kept, edited });
  for (const name of kept) {
    const phase = parent.phases.get(name);
    // Who edits it has looked at it.
    if (isAccepted(phase) || (phase?.status === "completed" && edited.has(name))) continue;
    throw new InputInvalid(`Session ${parent.id} has no accepted result of phase ${name} to take over.`, {
      details: { session: parent.id, phase: name },
      advice: `Fork at ${name} or before, or let the session finish that phase first.`,
    });
  }
  refuseChanged(definition, parent, kept);
  if (teamFingerprint(definition) !== parent.created.teamFingerprint) refuseBlocking(definition);
}

/** What is taken over stays as it was made: a change of the team before the phase it starts at would do nothing. */
function refuseChanged(definition: TeamDefinition, parent: SessionState, kept: readonly string[]): void {
  const { id, created, phases } = parent;
  const before = recordedDefinition(created.definition);
  const changed = changedPhases(before, definition);
  const joined = (name: string) => whoJoined(definition, parent, name);
  const name = kept.find(
    (name) => changed.has(name) && (joined(name).length > 0 || !isFromOutside(phases.get(name))),
  );
  if (name === undefined) return;
  const all = describeChanges(before, definition);
  const own = all.filter((change) => change.startsWith(`phase ${name}: `));
  const changes = own.length > 0 ? own : all;
  throw new InputInvalid(
    `Phase ${name} is not as it was when it ran, and would be taken over: ${changes.join("; ")}.`,
    {
      details: { session: id, phase: name, changes },
      advice:
        joined(name).length > 0
          ? `Fork without the edit of ${name}: who joined it works on what was given.`
          : [
              advise("Leave it as it was."),
              advise("Or run it again", "fork", id, "--at", name, "--team", "<file>"),
            ],
    },
  );
}

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
    parent,
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
  // What came from outside does not rest on what is here.
  if (isFromOutside(parent.phases.get(name))) return;
  const { id } = parent;
  const before = ancestorsOf(definition, name);
  const changed = before.find((other) => edited.has(other));
  if (changed !== undefined)
    throw new InputInvalid(
      `Phase ${name} rests on ${changed}, which is edited, and would be taken over as it was.`,
      {
        details: { session: id, at, phase: name, edited: changed },
        advice: advise("Run it again", "fork", id, "--at", name, "--edit", `${changed}=<file>`),
      },
    );
  const anew = before.find((other) => !kept.includes(other));
  if (anew === undefined) return;
  const joined = whoJoined(definition, parent, anew);
  if (joined.length > 0 && !edited.has(name))
    throw new InputInvalid(
      `Phase ${name} was made before ${joined.join(", ")} joined phase ${anew}, and would be taken over as it was.`,
      {
        details: { session: id, at, phase: name, joined },
        advice: advise(
          "Run it again",
          "fork",
          id,
          "--at",
          dependentsOf(definition, anew)[0] ?? name,
          "--team",
          "<file>",
        ),
      },
    );
  const [after] = dependentsOf(definition, name);
  throw new InputInvalid(`Phase ${name} is edited and rests on ${anew}, which would run again under it.`, {
    details: { session: id, at, phase: name },
    advice:
      after === undefined
        ? advise(`No phase depends on ${name}: edit it in place`, "resume", id, "--edit", `${name}=<file>`)
        : advise(`Fork at the phase after it`, "fork", id, "--at", after, "--edit", `${name}=<file>`),
  });
}

/** The row that sets a fork apart from the parent whose rows it has. */
export function forkedRow(
  definition: TeamDefinition,
  parent: SessionState,
  fork: ForkOrigin,
  spent: readonly PersonaSpent[],
): Extract<Transition, { kind: "session.forked" }> {
  const kept = takenOver(definition, parent, fork);
  const afresh = fork.fresh ? from(definition, fork) : new Set();
  const known = orderPhases(definition).filter((name) => !kept.includes(name) && !afresh.has(name));
  const fingerprint = teamFingerprint(definition);
  const row = { kind: "session.forked", teamFingerprint: fingerprint, from: fork.at } as const;
  return { ...row, kept, known, edited: fork.edited, spent };
}
