import { realpath } from "node:fs/promises";
import { sep } from "node:path";
import { advise } from "../domain/advice.ts";
import { NotTrusted, TeamInvalid } from "../domain/errors.ts";
import { packageFile } from "../package-files.ts";
import { demandsTrust } from "../team/demands.ts";
import { type LoadedTeam, loadTeam } from "../team/load-team.ts";
import type { Config } from "./config.ts";
import type { Demanding } from "./folder-config.ts";
import { fileIn, isTrusted, type TrustedFile } from "./trust-store.ts";

/**
 * Loads the team of a file that a person named. Naming a module trusts it, because its code runs. YAML and JSON
 * look harmless, so demands beyond the sandbox need explicit trust.
 */
export async function loadTrustedTeam(
  file: string,
  env: NodeJS.ProcessEnv,
  sandbox: Config["sandbox"],
): Promise<LoadedTeam> {
  const loaded = await loadTeam(file);
  const found = await teamDemands(loaded, sandbox);
  if (found === undefined || found.demands.length === 0 || (await isTrusted(found, env))) return loaded;
  const { path, sha256, demands } = found;
  throw new NotTrusted(`You have not trusted the team file ${path}.\n${demands.join("\n")}`, {
    details: { path, sha256, demands },
    advice: advise("Read it first. If you trust it", "trust", path),
  });
}

/** Demands of a file that may not be a team. */
export async function teamDemandsIfAny(path: string): Promise<(TrustedFile & Demanding) | undefined> {
  const loaded = await loadTeam(path).catch((error: unknown) => {
    if (TeamInvalid.is(error)) return undefined;
    throw error;
  });
  const found = loaded && (await teamDemands(loaded, "none"));
  return found?.demands.length === 0 ? undefined : found;
}

/** True for a team that ships with Maestro. */
async function isOurs(file: string): Promise<boolean> {
  const [teams, path] = await Promise.all([realpath(packageFile("teams/")), realpath(file)]);
  return path.startsWith(teams + sep);
}

/** Undefined for a module, which may do anything, and for Maestro's own teams. */
export async function teamDemands(
  { team, file, sha256 }: LoadedTeam,
  sandbox: Config["sandbox"],
): Promise<(TrustedFile & Demanding) | undefined> {
  if (sha256 === undefined || (await isOurs(file))) return undefined;
  const demands = demandsTrust(team.definition, sandbox).map(({ sentence }) => `${sentence}.`);
  return { path: await fileIn(file), sha256, demands };
}
