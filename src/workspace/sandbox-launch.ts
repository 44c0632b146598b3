import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { findInstall } from "./find-install.ts";
import { findProgram, searchPath } from "./find-program.ts";
import type { Launch } from "./launch.ts";
import { sandboxArguments, sandboxUsers } from "./sandbox-arguments.ts";
import type { Bubblewrap } from "./sandbox-kind.ts";
import {
  findPlaces,
  homePlace,
  isInside,
  modulesPlace,
  type PlaceOptions,
  type SandboxPlaces,
  workspacePlace,
} from "./sandbox-places.ts";
import { takeOver } from "./take-over.ts";

export interface LaunchRequest {
  readonly argv: readonly [string, ...string[]];
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly writable: "workspace" | "nothing";
  readonly network: boolean;
  readonly places: PlaceOptions;
  /** A folder that stays when the command ends; none: an empty home that goes with it. */
  readonly home?: string | undefined;
}

/** A text says why there is nothing to start. */
export async function launchInSandbox(
  sandbox: Bubblewrap,
  { argv, directory, env, writable, network, places: options, home }: LaunchRequest,
): Promise<Launch | string> {
  const places = await findPlaces(options);
  const isKnown = await isThere(argv[0], places);
  const install = isKnown ? undefined : await findInstall(argv[0], searchPath());
  if (!isKnown && install === undefined) return `${argv[0]} is not installed`;
  const programs = install === undefined ? places.programs : [...places.programs, dirname(install.path)];
  const isOther = sandbox.identity === "other-user";
  const uid = isOther ? passingUser() : (process.getuid?.() ?? 0);
  if (isOther) for (const folder of [directory, home ?? directory]) await takeOver(folder, uid);
  const { passwd, group } = sandboxUsers(uid);
  const words = sandboxArguments(sandbox, {
    directory: await realpath(directory),
    writable,
    network,
    places,
    home,
    install,
    uid,
  });
  return {
    file: sandbox.program,
    args: [...words, ...argv],
    directory: "/",
    env: { PATH: programs.join(":"), HOME: homePlace, ...env },
    descriptors: [undefined, passwd, group],
  };
}

/** A user id without account or files; systems reserve this range for temporary users. */
const passingUser = (): number => 61_184 + Math.floor(Math.random() * 4_335);

/** Looked up before the start, since a missing program is a reason of its own. A path in the workspace is left to it. */
async function isThere(
  program: string,
  { programs, modules, visible, links }: SandboxPlaces,
): Promise<boolean> {
  if (isAbsolute(program))
    return isInside(program, [...visible, ...links.map(({ path }) => path), workspacePlace]);
  if (program.includes("/")) return true;
  const own = join(modulesPlace, ".bin");
  const folders = programs.map((folder) =>
    folder === own && modules !== undefined ? join(modules, ".bin") : folder,
  );
  return (await findProgram(program, folders.filter(isAbsolute))) !== undefined;
}
