import { readdir, stat } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { ConfigInvalid, InputInvalid, MaestroError } from "../domain/errors.ts";
import { dataEndings, loadTeam } from "../team/load-team.ts";
import { configDemands, type Demanding } from "./folder-config.ts";
import { teamDemands, teamDemandsIfAny } from "./team-trust.ts";
import { rememberTrust, type TrustedFile } from "./trust-store.ts";

/** More files than a person would review. */
const mostFiles = 1_000;

type Trusting = TrustedFile & Demanding;

/**
 * Trusts a folder (its configuration, and teams in YAML and JSON directly in it with demands beyond the sandbox),
 * or one such file. Returns the trusted files with all their demands.
 */
export async function trustPlace(place: string, env: NodeJS.ProcessEnv): Promise<readonly Trusting[]> {
  const status = await stat(place).catch(() => undefined);
  if (status === undefined)
    throw new InputInvalid(`There is no folder ${place}.`, { advice: "Name a folder, or a team file." });
  const found = status.isDirectory() ? await inFolder(place) : await ofFile(place);
  for (const file of found) await rememberTrust(file, env);
  return found;
}

async function inFolder(folder: string): Promise<readonly Trusting[]> {
  const names = (await readdir(folder)).filter((name) => dataEndings.includes(extname(name))).sort();
  if (names.length > mostFiles)
    throw new InputInvalid(
      `${folder} has ${names.length} YAML and JSON files; at most ${mostFiles} are read.`,
      {
        advice: "Name the team file instead of its folder.",
      },
    );
  const found = [await ofConfig(folder)];
  for (const name of names.filter((each) => !isConfig(each)))
    found.push(await teamDemandsIfAny(join(folder, name)));
  return found.filter((each) => each !== undefined);
}

async function ofFile(path: string): Promise<readonly Trusting[]> {
  const found = isConfig(basename(path)) ? await ofConfig(dirname(resolve(path))) : await ofTeam(path);
  return found === undefined || (found.demands.length === 0 && !isConfig(basename(path))) ? [] : [found];
}

async function ofTeam(path: string): Promise<Trusting | undefined> {
  if (dataEndings.includes(extname(path))) return teamDemands(await loadTeam(path), "none");
  throw new InputInvalid(`${path} is not a YAML or JSON team file.`, {
    advice: "A team in TypeScript or JavaScript is trusted by naming it with --team.",
  });
}

async function ofConfig(folder: string): Promise<Trusting | undefined> {
  try {
    return await configDemands(folder);
  } catch (error) {
    if (MaestroError.is(error)) throw error;
    throw new ConfigInvalid(`The configuration is not valid: ${(error as Error).message}`, { cause: error });
  }
}

const isConfig = (name: string): boolean => name.startsWith("maestro.config.");
