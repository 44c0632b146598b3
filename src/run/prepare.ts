import { advise, type Notify } from "../domain/advice.ts";
import { SessionCanceled, SessionConflict, SessionNotFound, TeamChanged } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Direction, Entry, Transition } from "../journal/journal.ts";
import { isNoted } from "../journal/person-note.ts";
import { needsProgram } from "../journal/planned.ts";
import type { SessionState } from "../journal/session-state.ts";
import { staysGiven } from "../journal/session-state.ts";
import type { Blobs } from "../store/blobs.ts";
import { type Replay, readState, replaySession } from "../store/session-journal.ts";
import type { SessionRecord, Store } from "../store/store.ts";
import type { Team } from "../team/define.ts";
import {
  changedPersonas,
  describeChanges,
  joinedPhases,
  rejudgedPhases,
  rewiredPhases,
} from "../team/definition/changes.ts";
import { refuseBlocking } from "../team/definition/integration.ts";
import { dependentsOf } from "../team/definition/order.ts";
import { definitionJson, type TeamDefinition } from "../team/definition/team-definition.ts";
import { keepGivenFiles } from "./acts/keep-given-files.ts";
import { changesNothing, editPhase, type PhaseEdit, refuseEditInPlace } from "./acts/phase-edit.ts";
import { imagine } from "./acts/plan.ts";
import { isComplete, refuseUnknown, selectPhases } from "./direction.ts";

type TeamChange = Extract<Transition, { kind: "team.changed" }>;

/** Changes that a person requests together with a drive. */
export interface Preparation {
  readonly direction?: Direction;
  readonly edits?: Readonly<Record<string, PhaseEdit>>;
  readonly acceptChanges?: boolean;
  /** For the next attempts of unfinished phases. */
  readonly note?: string;
}

export interface PreparedDrive {
  readonly direction: Direction | undefined;
  /** Recorded before the drive. */
  readonly rows: readonly Entry[];
  readonly artifacts: readonly string[];
}

export const preparedNothing: PreparedDrive = { direction: undefined, rows: [], artifacts: [] };

/** The state to prepare on. Undefined when nothing can be refused: then only the driver reads the history. */
export async function seeBefore(
  session: SessionRecord,
  team: Team,
  { direction, edits = {}, note }: Preparation,
  store: Store,
): Promise<Replay | undefined> {
  const isPlain =
    session.teamFingerprint === team.fingerprint &&
    direction === undefined &&
    note === undefined &&
    Object.keys(edits).length === 0;
  return isPlain ? undefined : replaySession(store, session.id);
}

/** Refusals come before the first write. */
export async function prepareDrive(
  state: SessionState,
  team: Team,
  { direction, edits = {}, acceptChanges = false, note }: Preparation,
  artifacts: Blobs,
): Promise<PreparedDrive> {
  const changed = state.created.teamFingerprint !== team.fingerprint;
  const change = changed ? changeTeam(state, team, acceptChanges, edits) : undefined;
  const rows: Entry[] = change === undefined ? [] : [change];
  if (note !== undefined && !isNoted(state, note)) rows.push({ kind: "session.noted", note });
  const kept = changed ? await keepGivenFiles(team, artifacts) : [];
  if (direction === undefined && Object.keys(edits).length === 0) return { direction, rows, artifacts: kept };
  // Edits and direction apply to the changed team.
  const then = change === undefined ? state : imagine(state, change);
  for (const [name, edit] of Object.entries(edits)) {
    const isDone = state.phases.get(name)?.status === "completed";
    if (isDone && change?.reset.includes(name) === true) throw runsAgain(state, name);
    const isEdited = then.phases.get(name)?.source.kind === "edited";
    if (!isEdited) refuseEditInPlace(team.definition, then, name);
    const edited = await editPhase(team.definition, then, name, edit, artifacts);
    // A repeated request, after a crash that hid the first answer.
    if (isEdited && change === undefined && changesNothing(then, edited.content)) continue;
    refuseEditInPlace(team.definition, then, name);
    rows.push({ kind: "phase.edited", ...edited.content });
    kept.push(...edited.artifacts);
  }
  if (direction !== undefined) selectPhases(team.definition, then, direction);
  return { direction, rows, artifacts: kept };
}

function noNextAttempt(id: SessionId): SessionConflict {
  return new SessionConflict(
    "No attempt is left that the note could reach: every phase of the session is done.",
    {
      details: { session: id },
      advice: advise("Run a phase again in a new session", "fork", id, "--at", "<phase>", "--fresh"),
    },
  );
}

function runsAgain({ id }: SessionState, name: string): SessionConflict {
  return new SessionConflict(
    `The accepted change runs phase ${name} again; an edit of its earlier result would undo that.`,
    {
      details: { session: id, phase: name },
      advice: `Resume with --accept-changes and without the edit, then edit the new result of phase ${name}.`,
    },
  );
}

/**
 * Prepares again if another process has driven the session since it was read; one row since then is the claim itself. A
 * refusal at this point leaves the session as it is.
 */
export async function prepareClaimed(
  prepared: PreparedDrive & { readonly seq: number },
  state: SessionState,
  team: Team,
  preparation: Preparation,
  artifacts: Blobs,
  append: (row: Entry) => Promise<unknown>,
): Promise<PreparedDrive> {
  if (state.head.seq <= prepared.seq + 1) return prepared;
  try {
    return await prepareDrive(state, team, preparation, artifacts);
  } catch (refused) {
    const isDone = isComplete(team.definition, state);
    const standing = isDone
      ? ({ status: "completed" } as const)
      : ({ status: "paused", by: "refusal" } as const);
    await append({ kind: "session.status", ...standing });
    throw refused;
  }
}

/** Changed phases and their dependents run again; personas with equal inputs keep their results. */
function changeTeam(
  state: SessionState,
  team: Team,
  acceptChanges: boolean,
  edits: NonNullable<Preparation["edits"]>,
): TeamChange {
  const before = state.created.definition as unknown as TeamDefinition;
  const { definition, fingerprint } = team;
  const known = new Set(definition.phases.map(({ name }) => name));
  const pauses = new Set(state.direction.pauseAfter);
  const gone = before.phases.filter(({ name }) => pauses.has(name) && !known.has(name));
  const changes = [
    ...describeChanges(before, definition),
    ...gone.map(({ name }) => `the session no longer pauses after ${name}`),
  ];
  if (!acceptChanges) {
    throw new TeamChanged(
      `Session ${state.id} was started with another definition of team "${team.name}": ${changes.join("; ")}.`,
      {
        details: { session: state.id, changes, recorded: state.created.teamFingerprint, now: fingerprint },
        advice: [
          advise("Resume with the team it was started with."),
          needsProgram(state.created) && state.created.teamFile === undefined
            ? advise(
                `Or accept the new one in the program that defines it: maestro.resume("${state.id}", { acceptChanges: true }). Unchanged personas keep their results.`,
              )
            : advise(
                "Or accept the new one; unchanged personas keep their results",
                "resume",
                state.id,
                "--accept-changes",
              ),
        ],
      },
    );
  }
  refuseBlocking(definition);
  const touched = [
    ...changedPersonas(before, definition).map(({ phase }) => phase),
    ...joinedPhases(before, definition),
    // An edited phase is judged by the new checks anyway.
    ...rejudgedPhases(before, definition).filter((name) => !Object.hasOwn(edits, name)),
    ...rewiredPhases(before, definition),
    // A phase that is back in the team resumes from its earlier work.
    ...state.removed.keys(),
  ];
  const reset = new Set(touched.filter((name) => known.has(name)));
  for (const name of reset) for (const dependent of dependentsOf(definition, name)) reset.add(dependent);
  for (const { name, personas } of definition.phases)
    if (staysGiven(state.phases.get(name), personas)) reset.delete(name);
  return {
    kind: "team.changed",
    definition: definitionJson(definition),
    teamFingerprint: fingerprint,
    changes,
    reset: [...reset],
  };
}

/** A completed session has nothing left to drive: a request that would do nothing is refused or reported. */
export async function refuseToCompleted(
  { id, teamFingerprint }: SessionRecord,
  team: Team,
  { direction = {}, acceptChanges = false, note }: Preparation,
  store: Store,
  report: Notify,
): Promise<void> {
  refuseUnknown(team.definition, direction);
  if (note !== undefined) throw noNextAttempt(id);
  if (teamFingerprint === team.fingerprint) return;
  const before = (await readState(store, id)).created.definition as unknown as TeamDefinition;
  const at = changedPersonas(before, team.definition)[0]?.phase ?? team.definition.phases[0]?.name;
  const message = `Session ${id} is completed, so the changed team is not applied.`;
  const advice = advise(
    "Use the changed team in a new session",
    "fork",
    id,
    "--at",
    at ?? "<phase>",
    "--team",
    "<file>",
  );
  if (!acceptChanges) return report(message, [advice]);
  throw new SessionConflict(message, { details: { session: id }, advice });
}

/** The session, if it exists and is not canceled. */
export async function requireSession(store: Store, id: SessionId): Promise<SessionRecord> {
  const session = await store.findSession(id);
  if (session === undefined)
    throw new SessionNotFound(`There is no session ${id}.`, { details: { session: id } });
  if (session.status === "canceled") throw canceled(id);
  return session;
}

export function canceled(id: SessionId): SessionCanceled {
  return new SessionCanceled(`Session ${id} was canceled, which is final.`, {
    details: { session: id },
    advice: "Start a new session, or fork this one.",
  });
}
