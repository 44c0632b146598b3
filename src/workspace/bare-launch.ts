import { mkdir, mkdtemp, symlink } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { findProgram, searchPath } from "./find-program.ts";
import type { Launch } from "./launch.ts";
import { limitingWords } from "./process-limits.ts";
import type { LaunchRequest } from "./sandbox-launch.ts";
import { fromHome } from "./sandbox-places.ts";

/** Without a sandbox: as our own user, on all files, with the network. A text says why there is nothing to start. */
export async function launchBare(
  { argv, directory, env, places, limits }: Omit<LaunchRequest, "network">,
  home: string,
): Promise<Launch | string> {
  const programs = [
    dirname(process.execPath),
    ...(places.modules === undefined ? [] : [join(places.modules, ".bin")]),
    ...searchPath(),
  ];
  const program = argv[0].includes("/") ? argv[0] : await findProgram(argv[0], programs);
  if (program === undefined) return `${argv[0]} is not installed`;
  const [file = program, ...args] = [
    ...limitingWords(await findProgram("prlimit", programs), limits, false),
    program,
    ...argv.slice(1),
  ];
  return {
    file,
    args,
    directory,
    env: { PATH: programs.join(delimiter), HOME: home, ...env },
    descriptors: [],
  };
}

/** Links to what of our own home was asked for; all else is in its own place anyway. */
export async function shareInHome(
  home: string,
  { readable = [], writablePlaces = [] }: LaunchRequest["places"],
): Promise<void> {
  for (const place of [...readable, ...writablePlaces].filter((name) => name.startsWith("~/"))) {
    const link = fromHome(place, home);
    await mkdir(dirname(link), { recursive: true });
    await symlink(fromHome(place, homedir()), link).catch(unlessThere);
  }
}

/** From an earlier run in the same home. */
function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

export const makeHome = (): Promise<string> => mkdtemp(join(tmpdir(), "maestro-home-"));
