import { TeamChanged } from "../domain/errors.ts";
import type { Direction, Entry } from "../domain/journal.ts";
import { plannedPhases } from "../domain/planned.ts";
import type { SessionState } from "../domain/session-state.ts";
import type { Artifacts } from "../state/artifacts.ts";
import { readState } from "../state/session-journal.ts";
import type { SessionRecord, Store } from "../state/store.ts";
import type { Team } from "./define.ts";
import {
  changedPersonas,
  describeChanges,
  joinedPhases,
  rejudgedPhases,
  rewiredPhases,
} from "./definition/changes.ts";
import { dependentsOf } from "./definition/order.ts";
import { definitionJson, type TeamDefinition } from "./definition/team-definition.ts";
import { changesNothing, editPhase, type PhaseEdit, refuseEditInPlace } from "./phase-edit.ts";
import { isComplete, selectPhases } from "./selection.ts";

/** What a person wants done before, or besides, going on. */
export interface Preparation {
  readonly direction?: Direction;
  readonly edits?: Readonly<Record<string, PhaseEdit>>;
  readonly acceptChanges?: boolean;
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
): Promise<SessionState | undefined> {
  const isPlain =
    session.teamFingerprint === team.fingerprint &&
    direction === undefined &&
    Object.keys(edits).length === 0;
  return isPlain ? undefined : readState(store, session.id);
}

/** What can be refused is refused before anything is written. */
export async function prepareDrive(
  state: SessionState,
  team: Team,
  { direction, edits = {}, acceptChanges = false }: Preparation,
  artifacts: Artifacts,
): Promise<PreparedDrive> {
  const changed = state.created.teamFingerprint !== team.fingerprint;
  const rows: Entry[] = changed ? [changeTeam(state, team, acceptChanges)] : [];
  const kept: string[] = [];
  for (const [name, edit] of Object.entries(edits)) {
    const isEdited = state.phases.get(name)?.source.kind === "edited";
    if (!isEdited) refuseEditInPlace(team.definition, state, name);
    const edited = await editPhase(team.definition, state, name, edit, artifacts);
    // Said again, by whoever cannot know that it was heard.
    if (isEdited && changesNothing(state, edited.content)) continue;
    refuseEditInPlace(team.definition, state, name);
    rows.push({ kind: "phase.edited", ...edited.content });
    kept.push(...edited.artifacts);
  }
  if (direction !== undefined) selectPhases(team.definition, state, direction);
  return { direction, rows, artifacts: kept };
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
  { artifacts, append }: { readonly artifacts: Artifacts; readonly append: (row: Entry) => Promise<unknown> },
): Promise<PreparedDrive> {
  if (state.head.seq <= seq + 1) return prepared;
  try {
    return await prepareDrive(state, team, preparation, artifacts);
  } catch (refused) {
    const status = isComplete(team.definition, state) ? "completed" : "paused";
    await append({ kind: "session.status", status });
    throw refused;
  }
}

/** Changed phases and all that rest on them are gone through again; equal inputs keep their results. */
function changeTeam(state: SessionState, team: Team, acceptChanges: boolean): Entry {
  const before = state.created.definition as unknown as TeamDefinition;
  const { definition, fingerprint } = team;
  const changes = describeChanges(before, definition);
  if (!acceptChanges) {
    throw new TeamChanged(
      `Session ${state.id} was started with another definition of team "${team.name}": ${changes.join("; ")}.`,
      {
        details: { session: state.id, changes, recorded: state.created.teamFingerprint, now: fingerprint },
        advice:
          "Go on with the new one with --accept-changes (unchanged personas keep their results), or with the team it was started with.",
      },
    );
  }
  const known = new Set(plannedPhases(definitionJson(definition)).map(({ name }) => name));
  const touched = [
    ...changedPersonas(before, definition).map(({ phase }) => phase),
    ...joinedPhases(before, definition),
    ...rejudgedPhases(before, definition),
    ...rewiredPhases(before, definition),
  ];
  const reset = new Set(touched.filter((name) => known.has(name)));
  for (const name of reset) for (const dependent of dependentsOf(definition, name)) reset.add(dependent);
  // Nobody here made what came from outside, and nobody here could make it again.
  for (const name of reset) if (state.phases.get(name)?.source.kind === "given") reset.delete(name);
  return {
    kind: "team.changed",
    definition: definitionJson(definition),
    teamFingerprint: fingerprint,
    changes,
    reset: [...reset],
  };
}
