import { isPattern } from "../team/definition/is-pattern.ts";
import type { PersonaDefinition } from "../team/definition/team-definition.ts";
import { globMatcher } from "../workspace/glob.ts";
import { readNamedFiles } from "../workspace/named-files.ts";

/** Work that will be done before somebody begins, as far as it can matter to them. */
export interface PlannedWork {
  readonly isAny: boolean;
  /** Globs of the files it may change; null: all files. */
  readonly writes: readonly string[] | null;
}

export const noWork: PlannedWork = { isAny: false, writes: [] };

/** What its policy leaves out of a glob is not known here any more: rather too much than too little. */
export const workOf = ({ policy: { write } }: PersonaDefinition): PlannedWork => ({
  isAny: true,
  writes: write === null ? null : readNamedFiles(write).globs,
});

export function together(works: readonly PlannedWork[]): PlannedWork {
  const done = works.filter(({ isAny }) => isAny);
  const [only] = done;
  // Most often one thing comes after the other, and all of a long line shares what is known of its beginning.
  if (done.length <= 1 || only?.writes === null) return only ?? noWork;
  const writes = new Set<string>();
  for (const work of done) {
    if (work.writes === null) return work;
    for (const glob of work.writes) writes.add(glob);
  }
  return { isAny: true, writes: [...writes] };
}

/** Whether it may change a file at one of these paths or patterns. Of two patterns nobody can say whether they overlap. */
export function mayChange({ isAny, writes }: PlannedWork, seen: readonly string[]): boolean {
  if (!isAny || seen.length === 0) return false;
  if (writes === null || (writes.length > 0 && seen.some(isPattern))) return true;
  return writes.map(globMatcher).some((matches) => seen.some(matches));
}
