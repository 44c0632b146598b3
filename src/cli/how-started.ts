import { realpathSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, relative } from "node:path";
import { quote } from "../domain/command-line.ts";

/** What a process knows of how it was started. */
export interface Started {
  readonly script: string | undefined;
  readonly node: string;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

/** What to type to start Maestro again from the same shell: as it was started, because nothing else is known to work. */
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
    // Fetched by npx, which knows it by its name alone; of a clone its store has only a link.
    if (/[/\\]_npx[/\\]/.test(realPath(script))) return "npx maestro-hive";
    const { npm_config_local_prefix: project } = env;
    // Elsewhere npx would take another package that is called maestro.
    if (project === undefined || isWithin(project, folder)) return "npx maestro";
  }
  const name = basename(script);
  if (name === "maestro.cjs")
    return `${isFound("node", node, search) ? "node" : quote(node)} ${quote(script)}`;
  return name === "maestro" && !search.includes(dirname(script)) ? quote(script) : "maestro";
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

/** Whether a shell that looks for the name comes to this file. */
function isFound(name: string, file: string, search: readonly string[]): boolean {
  for (const folder of search) {
    try {
      return realpathSync(join(folder, name)) === realpathSync(file);
    } catch {
      // Not in this one.
    }
  }
  return false;
}
