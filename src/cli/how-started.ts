import { realpathSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, relative } from "node:path";
import { quote } from "../domain/advice.ts";

export interface Started {
  readonly script: string | undefined;
  readonly node: string;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

const entryName = "maestro.cjs";
/** The package's two commands. `maestro-hive` is also the package's name, so npx never fetches another package for it. */
const commandNames = ["maestro", "maestro-hive"];
const npx = "npx maestro-hive";

/** Works on a machine where nothing is installed. */
export const anywhere = npx;

/** The command name as typed, for usage lines. */
export function typedName(script: string = process.argv[1] ?? ""): string {
  const name = basename(script);
  return commandNames.includes(name) ? name : "maestro";
}

/**
 * The command that starts Maestro again from the same shell. Only the way this process was started is known to
 * work.
 */
export function howStarted(
  { script = "", node, folder, env }: Started = {
    script: process.argv[1],
    node: process.execPath,
    folder: process.cwd(),
    env: process.env,
  },
): string {
  const search = (env["PATH"] ?? "").split(delimiter);
  if (env["npm_command"] === "exec") {
    // The npx cache holds the package itself; of a clone it holds only a link.
    if (/[/\\]_npx[/\\]/.test(realPath(script))) return npx;
    const { npm_config_local_prefix: project } = env;
    // Outside the project, npx would fetch the published version instead of the project's own.
    if (project === undefined || isWithin(project, folder)) return npx;
  }
  const name = basename(script);
  if (name === entryName) return `${isFound("node", node, search) ? "node" : quote(node)} ${quote(script)}`;
  if (!commandNames.includes(name)) return "maestro";
  return search.includes(dirname(script)) ? name : quote(script);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return !way.startsWith("..") && !isAbsolute(way);
}

/** Whether the shell resolves the name to this file. */
function isFound(name: string, file: string, search: readonly string[]): boolean {
  for (const folder of search) {
    try {
      return realpathSync(join(folder, name)) === realpathSync(file);
    } catch {
      // The name is not in this folder.
    }
  }
  return false;
}
