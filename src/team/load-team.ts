import { existsSync } from "node:fs";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { MaestroError, TeamInvalid } from "../domain/errors.ts";
import type { Team } from "./define.ts";

const moduleEndings = [".ts", ".mts", ".js", ".mjs"];
export const dataEndings = [".yaml", ".yml", ".json"];

export interface LoadedTeam {
  readonly team: Team;
  readonly file: string;
  /** Hash of the file's bytes and of its skills and texts. Undefined for a module, whose code has already run. */
  readonly sha256?: string;
}

/**
 * Loads a team from a file: a module whose default export is a team, or YAML or JSON. Only its skills and texts are
 * relative to the file. Its commands start in the workspace.
 */
export async function loadTeam(file: string): Promise<LoadedTeam> {
  const path = resolve(file);
  const ending = extname(path);
  if (![...moduleEndings, ...dataEndings].includes(ending)) {
    throw new TeamInvalid(`${file} is not a team file.`, {
      advice: `A team file ends in ${[...moduleEndings, ...dataEndings].join(", ")}.`,
    });
  }
  if (!existsSync(path)) {
    throw new TeamInvalid(`There is no team file ${file}.`, {
      advice: "Check the path; it is taken from the current folder.",
    });
  }
  if (dataEndings.includes(ending)) {
    const { readTeamFile } = await import("./definition/team-file.ts");
    return { ...(await readTeamFile(path, file)), file: path };
  }
  return { team: await importTeam(path, file), file: path };
}

async function importTeam(path: string, file: string): Promise<Team> {
  let module: { readonly default?: unknown };
  try {
    module = (await import(pathToFileURL(path).href)) as { default?: unknown };
  } catch (cause) {
    if (MaestroError.is(cause)) throw cause;
    const missing = (cause as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND";
    throw new TeamInvalid(`The team file ${file} cannot be loaded: ${(cause as Error).message}`, {
      cause,
      advice: missing
        ? "Check the path, and that what the file imports is installed."
        : "Mend the file and try again.",
    });
  }
  if (isTeam(module.default)) return module.default;
  throw new TeamInvalid(`The team file ${file} has no team.`, {
    advice: "Make the result of defineTeam its default export.",
  });
}

function isTeam(value: unknown): value is Team {
  return (
    typeof value === "object" &&
    value !== null &&
    "phases" in value &&
    "definition" in value &&
    "fingerprint" in value
  );
}
