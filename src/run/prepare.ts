import { advise } from "../domain/advice.ts";
import { SessionConflict, TeamChanged } from "../domain/errors.ts";
import { staysGiven } from "../journal/from-outside.ts";
import type { Direction, Entry, Transition } from "../journal/journal.ts";
import type { SessionState } from "../journal/session-state.ts";
import type { Artifacts } from "../store/artifacts.ts";
import { type Replay, replaySession } from "../store/session-journal.ts";
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
import { changesNothing, editPhase, type PhaseEdit, refuseEditInPlace } from "./phase-edit.ts";
import { imagine } from "./plan.ts";
import { isComplete, selectPhases } from "./selection.ts";

type TeamChange = Extract<Transition, { kind: "team.changed" }>;

/** What a person wants done before, or besides, going on. */
export interface Preparation {
  readonly direction?: Direction;
  readonly edits?: Readonly<Record<string, PhaseEdit>>;
  readonly acceptChanges?: boolean;
}

export interface PrepareParts {
  readonly artifacts: Artifacts;
}

export interface PreparedDrive {
  readonly direction: Direction | undefined;
  /** To be recorded before the drive. */
  readonly rows: readonly Entry[];
  readonly artifacts: readonly string[];
}

export const preparedNothing: PreparedDrive = { direction: undefined, rows: [], artifacts: [] };

/** The state to prepare on; undefined when there is nothing to look at: then the history is read once, by the driver. */
export async function seeBefore(
  session: SessionRecord,
  team: Team,
  { direction, edits = {} }: Preparation,
  store: Store,
): Promise<Replay | undefined> {
  const isPlain =
    session.teamFingerprint === team.fingerprint &&
    direction === undefined &&
    Object.keys(edits).length === 0;
  return isPlain ? undefined : replaySession(store, session.id);
}

/** What can be refused is refused before anything is written. */
export async function prepareDrive(
  state: SessionState,
  team: Team,
  { direction, edits = {}, acceptChanges = false }: Preparation,
  { artifacts }: PrepareParts,
): Promise<PreparedDrive> {
  const changed = state.created.teamFingerprint !== team.fingerprint;
  const change = changed ? changeTeam(state, team, acceptChanges, edits) : undefined;
  const rows: Entry[] = change === undefined ? [] : [change];
  if (direction === undefined && Object.keys(edits).length === 0) return { direction, rows, artifacts: [] };
  // All else is asked of the session as the change leaves it.
  const then = change === undefined ? state : imagine(state, change);
  const kept: string[] = [];
  for (const [name, edit] of Object.entries(edits)) {
    const isDone = state.phases.get(name)?.status === "completed";
    if (isDone && change?.reset.includes(name) === true) throw runsAgain(state, name);
    const isEdited = then.phases.get(name)?.source.kind === "edited";
    if (!isEdited) refuseEditInPlace(team.definition, then, name);
    const edited = await editPhase(team.definition, then, name, edit, artifacts);
    // Said again, by whoever cannot know that it was heard.
    if (isEdited && change === undefined && changesNothing(then, edited.content)) continue;
    refuseEditInPlace(team.definition, then, name);
    rows.push({ kind: "phase.edited", ...edited.content });
    kept.push(...edited.artifacts);
  }
  if (direction !== undefined) selectPhases(team.definition, then, direction);
  return { direction, rows, artifacts: kept };
}

function runsAgain({ id }: SessionState, name: string): SessionConflict {
  return new SessionConflict(
    `The accepted change lets phase ${name} run again; an edit of what it came to before would undo that.`,
    {
      details: { session: id, phase: name },
      advice: `Resume with --accept-changes and without the edit first, and edit what phase ${name} comes to.`,
    },
  );
}

/**
 * Somebody may have gone on with the session since it was looked at, so that what was possible is so no longer. One row
 * since then is that of the claim. Who is refused now lets go of the session as it is.
 */
export async function prepareClaimed(
  { prepared, seq }: { readonly prepared: PreparedDrive; readonly seq: number },
  state: SessionState,
  team: Team,
  preparation: Preparation,
  { append, ...parts }: PrepareParts & { readonly append: (row: Entry) => Promise<unknown> },
): Promise<PreparedDrive> {
  if (state.head.seq <= seq + 1) return prepared;
  try {
    return await prepareDrive(state, team, preparation, parts);
  } catch (refused) {
    const status = isComplete(team.definition, state) ? "completed" : "paused";
    await append({ kind: "session.status", status });
    throw refused;
  }
}

/** Changed phases and all that rest on them are gone through again; equal inputs keep their results. */
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
    ...gone.map(({ name }) => `nothing pauses after ${name} any more`),
  ];
  if (!acceptChanges) {
    throw new TeamChanged(
      `Session ${state.id} was started with another definition of team "${team.name}": ${changes.join("; ")}.`,
      {
        details: { session: state.id, changes, recorded: state.created.teamFingerprint, now: fingerprint },
        advice: [
          advise("Resume with the team it was started with."),
          advise(
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
    // The edit itself is judged in the new way.
    ...rejudgedPhases(before, definition).filter((name) => !Object.hasOwn(edits, name)),
    ...rewiredPhases(before, definition),
    // Put back: named, so that it goes on from what it was.
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
