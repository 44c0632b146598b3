import { globMatcher } from "./glob.ts";

/** Files as people name them: `["src/**", "!src/db/**"]` is everything under `src` except `src/db`. */
interface NamedFiles {
  readonly globs: readonly string[];
  /** The excluding globs, without the `!`. */
  readonly except: readonly string[];
}

/** If only exceptions are named, all other files are meant. */
export function readNamedFiles(files: readonly string[]): NamedFiles {
  const globs = files.filter((file) => !isException(file));
  const except = files.filter(isException).map((file) => file.slice(1));
  return { globs: globs.length === 0 && except.length > 0 ? ["**"] : globs, except };
}

/** For each glob, whether it matches a path that is not excluded. */
export function namedMatchers(files: readonly string[]): ReadonlyMap<string, (path: string) => boolean> {
  const { globs, except } = readNamedFiles(files);
  const isLeftOut = except.map(globMatcher);
  return new Map(
    globs.map((glob) => {
      const matches = globMatcher(glob);
      return [glob, (path) => matches(path) && !isLeftOut.some((leavesOut) => leavesOut(path))];
    }),
  );
}

/** Whether a path is one of the files. */
export function namedMatcher(files: readonly string[]): (path: string) => boolean {
  const matchers = [...namedMatchers(files).values()];
  return (path) => matchers.some((matches) => matches(path));
}

const isException = (file: string): boolean => file.startsWith("!") && !file.startsWith("!(");
