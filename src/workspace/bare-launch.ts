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

/** Without a sandbox: as our own user, with all files and the network. A text says why nothing can be started. */
export async function launchBare(
  { argv, directory, env, limits }: BareRequest,
  home: string,
): Promise<Launch | string> {
  const programs = [...(await installedIn(directory)), dirname(process.execPath), ...searchPath()];
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

/** The programs of packages in the command's own folder. */
async function installedIn(directory: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const place of ["node_modules", ".venv"]) {
    const folder = await programsOf({ source: join(directory, place), place });
    if (folder !== undefined) found.push(join(directory, place, folder));
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
