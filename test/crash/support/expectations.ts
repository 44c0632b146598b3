import { readdirSync } from "node:fs";
import { expect } from "vitest";
import { listCheckpoints } from "../../../src/state/list-checkpoints.ts";
import { SessionFiles } from "../../../src/state/session-files.ts";
import { readState } from "../../../src/state/session-journal.ts";
import type { Life, Place } from "./place.ts";
import { openStore } from "./recorded.ts";
import type { TeamName } from "./teams.ts";

export interface Undisturbed {
  readonly ending: unknown;
  readonly marks: readonly string[];
}

export function endingOf({ ended }: Life): unknown {
  expect(ended, `stderr: ${ended.stderr}`).toMatchObject({ code: 0, signal: null });
  return JSON.parse(ended.stdout);
}

/** The whole promise: the same result, no recorded step run again, none left out, everything on disk in order. */
export async function expectAsIfNothingHappened(
  place: Place,
  team: TeamName,
  undisturbed: Undisturbed,
): Promise<void> {
  expect(endingOf(place.lives.at(-1) as Life)).toEqual(undisturbed.ending);
  expectRecordedStepsRanOnce(place.lives);
  expect(new Set(place.marks)).toEqual(new Set(undisturbed.marks));
  expect(place.lives.at(-1)?.recorded.marks).toEqual(new Set(undisturbed.marks));
  await expectTidyFiles(place, team);
}

export function expectRecordedStepsRanOnce(lives: readonly Life[]): void {
  let before: ReadonlySet<string> = new Set();
  for (const { marks, recorded } of lives) {
    expect(new Set(marks).size, "a process runs a step once").toBe(marks.length);
    const repeated = marks.filter((mark) => before.has(mark));
    expect(repeated, "recorded steps that ran again").toEqual([]);
    const kept = [...before].filter((mark) => recorded.marks.has(mark));
    expect(kept.length, "steps on record stay there").toBe(before.size);
    before = recorded.marks;
  }
}

/** Effects that happened and whose record was lost with the process: the one documented window. */
export function lostWith({ marks, recorded }: Life): string[] {
  return marks.filter((mark) => !recorded.marks.has(mark));
}

/** No half-written file; each checkpoint valid and the one the journal knows; the summary of the final state. */
export async function expectTidyFiles({ stateDir }: Place, team: TeamName): Promise<void> {
  const store = openStore(stateDir);
  try {
    const session = await store.findSession(team);
    if (session === undefined) throw new Error(`there is no session of team ${team}`);
    const state = await readState(store, session.id);
    const files = new SessionFiles(stateDir, session.id);
    expect(readdirSync(files.folder).filter((file) => file.endsWith(".tmp"))).toEqual([]);
    const checkpoints = await listCheckpoints(stateDir, state);
    expect(checkpoints.filter(({ valid }) => !valid)).toEqual([]);
    const completed = [...state.phases].filter(([, { status }]) => status === "completed");
    expect(checkpoints.map(({ phase }) => phase)).toEqual(["init", ...completed.map(([name]) => name)]);
    expect(await files.readExecutionState()).toMatchObject({ status: session.status, journal: state.head });
  } finally {
    await store.close();
  }
}
