import { readdirSync } from "node:fs";
import { expect } from "vitest";
import type { ArtifactView } from "../../../src/journal/view.ts";
import { listCheckpoints } from "../../../src/store/list-checkpoints.ts";
import { SessionFiles } from "../../../src/store/session-files.ts";
import { readState } from "../../../src/store/session-journal.ts";
import { orElse } from "../../campaign/campaign.ts";
import { filesLeft } from "./onlooker.ts";
import type { Life, Place } from "./place.ts";
import type { Program } from "./program.ts";
import { nothingRecorded, openStore, type Recorded, rowsOf } from "./recorded.ts";

/** The outcome of a run that no process interrupts. */
export interface Undisturbed {
  readonly ending: unknown;
  readonly marks: readonly string[];
  readonly steps: readonly string[];
  readonly files: readonly ArtifactView[];
}

export async function undisturbedBy(place: Place, program: Program, key: string): Promise<Undisturbed> {
  const life = await place.afterlife(program, key);
  const { steps } = life.recorded;
  return { ending: endingOf(life), marks: place.marks, steps, files: await filesLeft(place, key) };
}

export function endingOf({ ended }: Life): unknown {
  expect(ended, `stderr: ${ended.stderr}`).toMatchObject({ code: 0, signal: null });
  return JSON.parse(ended.stdout);
}

/** The whole promise: the same result, no recorded step repeated, none left out, and valid files on disk. */
export async function expectAsIfNothingHappened(
  place: Place,
  key: string,
  undisturbed: Undisturbed,
): Promise<void> {
  const last = place.lives.at(-1) as Life;
  expect(endingOf(last)).toEqual(undisturbed.ending);
  expectRecordedStepsRanOnce(place.lives);
  expectNoPersonaRanAgain(place.lives);
  orElse("lost", () => {
    expect(new Set(place.marks)).toEqual(new Set(undisturbed.marks));
    expect(last.recorded.steps, "each step once on record, and no other").toEqual(undisturbed.steps);
  });
  await expectTidyFiles(place, key);
  if (undisturbed.files.length === 0) return;
  const files = await filesLeft(place, key);
  orElse("lost", () => expect(files).toEqual(undisturbed.files));
}

export function expectRecordedStepsRanOnce(lives: readonly Life[]): void {
  let before: ReadonlySet<string> = new Set();
  for (const { marks, recorded } of lives) {
    orElse("repeated", () => {
      expect(new Set(marks).size, "a process runs a step once").toBe(marks.length);
      const repeated = marks.filter((mark) => before.has(mark));
      expect(repeated, "recorded steps that ran again").toEqual([]);
    });
    const kept = [...before].filter((mark) => recorded.marks.has(mark));
    orElse("lost", () => expect(kept.length, "steps that stay on record").toBe(before.size));
    before = recorded.marks;
  }
}

/** A persona that had completed when its process died does not begin in the next one. */
export function expectNoPersonaRanAgain(lives: readonly Life[]): void {
  let before: Recorded = nothingRecorded;
  for (const { begun, recorded } of lives) {
    const again = begun.filter((attempt) => before.completed.has(attempt));
    // A person may have accepted a team in which a completed persona reads something else.
    const isChanged = rowsOf(recorded, "team.changed").length > 0;
    orElse("repeated", () => expect(isChanged ? [] : again, "completed personas that ran again").toEqual([]));
    before = recorded;
  }
}

/** Two rounds of three attempts, then a request for help. */
export function expectSixAttempts({ recorded }: Life): void {
  const attempts = rowsOf(recorded, "attempt.started").map(({ round, attempt }) => [round, attempt]);
  expect(attempts).toEqual([
    [1, 1],
    [1, 2],
    [1, 3],
    [2, 1],
    [2, 2],
    [2, 3],
  ]);
  const endings = rowsOf(recorded, "attempt.failed").map(({ next }) => next.kind);
  expect(endings).toEqual(["attempt", "attempt", "round", "attempt", "attempt", "help"]);
}

/** Effects that happened and whose record died with the process: the one documented window. */
export function lostWith({ marks, recorded }: Life): string[] {
  return marks.filter((mark) => !recorded.marks.has(mark));
}

/** No half-written file; every checkpoint is valid and known to the journal; the summary shows the final state. */
export async function expectTidyFiles({ stateDir }: Place, key: string): Promise<void> {
  const store = openStore(stateDir);
  try {
    const session = await store.findSession(key);
    if (session === undefined) throw new Error(`there is no session ${key}`);
    const state = await readState(store, session.id);
    const files = new SessionFiles(stateDir, session.id);
    expect(readdirSync(files.folder).filter((file) => file.endsWith(".tmp"))).toEqual([]);
    const checkpoints = await listCheckpoints(stateDir, state, store);
    expect(checkpoints.filter(({ valid }) => !valid)).toEqual([]);
    const completed = [...state.phases].filter(([, { status }]) => status === "completed");
    const sealed = checkpoints.map(({ phase, revision }) => `${phase} ${revision}`);
    expect(sealed).toEqual(
      expect.arrayContaining(["init 1", ...completed.map(([name, { revision }]) => `${name} ${revision}`)]),
    );
    expect(new Set(checkpoints.map(({ phase }) => phase))).toEqual(
      new Set(["init", ...completed.map(([name]) => name)]),
    );
    expect(await files.readExecutionState()).toMatchObject({ status: session.status, journal: state.head });
  } finally {
    await store.close();
  }
}
