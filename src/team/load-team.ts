import { existsSync } from "node:fs";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { MaestroError, TeamInvalid } from "../domain/errors.ts";
import type { Team } from "./define.ts";

const moduleEndings = [".ts", ".mts", ".js", ".mjs"];

/** A team module's default export is a team. */
export async function loadTeam(file: string): Promise<{ readonly team: Team; readonly file: string }> {
  const path = resolve(file);
  if (!moduleEndings.includes(extname(path))) {
    throw new TeamInvalid(`${file} is not a team module.`, {
      advice: `A team file ends in ${moduleEndings.join(", ")}.`,
    });
  }
  if (!existsSync(path)) {
    throw new TeamInvalid(`There is no team file ${file}.`, {
      advice: "Check the path; it is taken from the current folder.",
    });
  }
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
  if (isTeam(module.default)) return { team: module.default, file: path };
  throw new TeamInvalid(`The team file ${file} has no team.`, {
    advice: "Make the result of defineTeam its default export.",
  });
}

function isTeam(value: unknown): value is Team {
  return typeof value === "object" && value !== null && "phases" in value && "fingerprint" in value;
}
