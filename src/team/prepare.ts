import { TeamChanged } from "../domain/errors.ts";
import type { Direction, Entry } from "../domain/journal.ts";
import { plannedPhases } from "../domain/planned.ts";
import type { SessionState } from "../domain/session-state.ts";
import type { Artifacts } from "../state/artifacts.ts";
import { readState } from "../state/session-journal.ts";
import type { SessionRecord, Store } from "../state/store.ts";
import type { Team } from "./define.ts";
import { changedPersonas, describeChanges, joinedPhases, rejudgedPhases } from "./definition/changes.ts";
import { dependentsOf } from "./definition/order.ts";
import { definitionJson, type TeamDefinition } from "./definition/team-definition.ts";
import { changesNothing, editPhase, type PhaseEdit, refuseEditInPlace } from "./phase-edit.ts";
import { selectPhases } from "./selection.ts";

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

/** What can be refused is refused before anything is written. */
export async function prepareDrive(
  session: SessionRecord,
  team: Team,
  { direction, edits = {}, acceptChanges = false }: Preparation,
  { store, artifacts }: { readonly store: Store; readonly artifacts: Artifacts },
): Promise<PreparedDrive> {
  const changed = session.teamFingerprint !== team.fingerprint;
  const names = Object.keys(edits);
  // Nothing to look at: the history is read once, by the driver.
  if (!changed && direction === undefined && names.length === 0)
    return { direction: undefined, rows: [], artifacts: [] };
  const state = await readState(store, session.id);
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
