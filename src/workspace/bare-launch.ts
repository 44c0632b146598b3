import { mkdir, mkdtemp, symlink } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { findProgram, searchPath } from "./find-program.ts";
import type { Launch } from "./launch.ts";
import { type LayerPart, programsOf } from "./layers/layer.ts";
import { copyFolder } from "./layers/private-view.ts";
import { limitingWords } from "./process-limits.ts";
import { removeFolder } from "./remove-folder.ts";
import type { LaunchRequest } from "./sandbox-launch.ts";
import { fromHome } from "./sandbox-places.ts";

export type BareRequest = Omit<LaunchRequest, "network" | "layers" | "user">;

interface BarePlace {
  readonly home: string;
  /** They are in the command's own folder and home. */
  readonly layers: readonly LayerPart[];
}

/** Without a sandbox: as our own user, with all files and the network. A text says why nothing can be started. */
export async function launchBare(
  { argv, directory, env, limits }: BareRequest,
  { home, layers }: BarePlace,
): Promise<Launch | string> {
  const programs = [
    ...(await installedBy(layers, directory, home)),
    dirname(process.execPath),
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

/** Only the programs of layers: a persona may have written any other file, and a check must not start it by name. */
async function installedBy(
  layers: readonly LayerPart[],
  directory: string,
  home: string,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const part of layers) {
    const folder = await programsOf(part);
    if (folder !== undefined) found.push(join(whereIs(part, directory, home), folder));
  }
  return found;
}

const whereIs = ({ place }: LayerPart, directory: string, home: string): string =>
  place.startsWith("~/") ? fromHome(place, home) : join(directory, place);

/** Without a sandbox there is no mount, so the command gets a copy in its own folder. */
export async function copyLayers(
  layers: readonly LayerPart[],
  directory: string,
  home: string,
): Promise<void> {
  for (const part of layers) {
    const target = whereIs(part, directory, home);
    await removeFolder(target);
    await mkdir(dirname(target), { recursive: true });
    await copyFolder(part.source, target);
  }
}

/** Runs before the command's folder is read back, because the copies are not changes. */
export async function removeLayers(
  layers: readonly LayerPart[],
  directory: string,
  home: string,
): Promise<void> {
  for (const part of layers) await removeFolder(whereIs(part, directory, home));
}

/** Links the requested parts of our own home. Everything else is in its own place anyway. */
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

/** Left by an earlier run in the same home. */
function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

export const makeHome = (): Promise<string> => mkdtemp(join(tmpdir(), "maestro-home-"));
