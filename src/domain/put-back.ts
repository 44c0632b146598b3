/** A forbidden change by a persona, and the reason. */
export interface ProtectedChange {
  /** A path, or a member of a JSON file: `package.json#scripts`. */
  readonly path: string;
  /** "tester delivers it in phase tests". */
  readonly why: string;
}

/** Changes to protected files that were reverted. */
export interface PutBack {
  readonly files: readonly ProtectedChange[];
  /** Number of changes beyond the named ones. */
  readonly more: number;
}

/** A formatter may touch every file of a project. */
const mostNamed = 50;

/** A path is named once, however often it was changed. Undefined if nothing was reverted. */
export function putBackOf(changes: readonly ProtectedChange[]): PutBack | undefined {
  const known = [...new Map(changes.map((change) => [change.path, change])).values()];
  if (known.length === 0) return undefined;
  return { files: known.slice(0, mostNamed), more: Math.max(0, known.length - mostNamed) };
}

/** "test/a.test.js, package.json#scripts and 3 more". */
export function putBackText({ files, more }: PutBack): string {
  const paths = files.map(({ path }) => path).join(", ");
  return more === 0 ? paths : `${paths} and ${more} more`;
}
