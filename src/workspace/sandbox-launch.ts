import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { findProgram, searchPath } from "./find-program.ts";
import type { Launch } from "./launch.ts";
import { sandboxArguments, sandboxUsers } from "./sandbox-arguments.ts";
import type { Bubblewrap } from "./sandbox-kind.ts";
import {
  findPlaces,
  homePlace,
  modulesPlace,
  type PlaceOptions,
  type SandboxPlaces,
} from "./sandbox-places.ts";
import { takeOver } from "./take-over.ts";

export interface LaunchRequest {
  readonly argv: readonly [string, ...string[]];
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly writable: "workspace" | "nothing";
  readonly network: boolean;
  readonly places: PlaceOptions;
}

/** A text says why there is nothing to start. */
export async function launchInSandbox(
  sandbox: Bubblewrap,
  { argv, directory, env, writable, network, places: options }: LaunchRequest,
): Promise<Launch | string> {
  const places = await findPlaces(options);
  if (!(await isThere(argv[0], places))) return whyMissing(argv[0]);
  const isOther = sandbox.identity === "other-user";
  const uid = isOther ? passingUser() : (process.getuid?.() ?? 0);
  if (isOther) await takeOver(directory, uid);
  const { passwd, group } = sandboxUsers(uid);
  const words = sandboxArguments(sandbox, {
    directory: await realpath(directory),
    writable,
    network,
    places,
    uid,
  });
  return {
    file: sandbox.program,
    args: [...words, ...argv],
    directory: "/",
    env: { PATH: places.programs.join(":"), HOME: homePlace, ...env },
    descriptors: [undefined, passwd, group],
  };
}

async function whyMissing(program: string): Promise<string> {
  const found = await findProgram(program, searchPath());
  return found === undefined
    ? `${program} is not installed`
    : `${program} is in ${dirname(found)}, which the sandbox does not show`;
}

/** A user that no account has and no file belongs to; systems keep this range for users who come and go. */
const passingUser = (): number => 61_184 + Math.floor(Math.random() * 4_335);

/** Looked up before the start, since a missing program is a reason of its own. A path is left to the start. */
async function isThere(program: string, { programs, modules }: SandboxPlaces): Promise<boolean> {
  if (program.includes("/")) return true;
  const own = join(modulesPlace, ".bin");
  const folders = programs.map((folder) =>
    folder === own && modules !== undefined ? join(modules, ".bin") : folder,
  );
  return (await findProgram(program, folders.filter(isAbsolute))) !== undefined;
}
