import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { findProgram, searchPath } from "./find-program.ts";
import type { Launch } from "./launch.ts";
import { limitingWords } from "./process-limits.ts";
import type { LaunchRequest } from "./sandbox-launch.ts";

/** Without a sandbox: as our own user, on all files, with the network. A text says why there is nothing to start. */
export async function launchBare(
  { argv, directory, env, places }: LaunchRequest,
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
    ...limitingWords(await findProgram("prlimit", programs), false),
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

export const makeHome = (): Promise<string> => mkdtemp(join(tmpdir(), "maestro-home-"));
