import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { TeamInvalid } from "../domain/errors.ts";
import type { Maestro, Team } from "../index.ts";
import { packageFile } from "../package-files.ts";
import { say } from "./output.ts";

const builtIn = "software-delivery";

/** The team of a file, or the built-in one. */
export async function loadTeamFile(
  file: string | undefined,
): Promise<{ readonly team: Team; readonly file: string }> {
  const { loadTeam } = await import("../index.ts");
  if (file !== undefined) return loadTeam(file);
  const path = fileURLToPath(packageFile(`teams/${builtIn}.yaml`));
  if (existsSync(path)) return loadTeam(path);
  throw new TeamInvalid(`No team is named, and this version has no built-in team "${builtIn}".`, {
    advice: "Name a team file with --team, or make one with: maestro init",
  });
}

/** The team of a session: from the file given now, the file it was started with, or what is recorded. */
export async function teamForSession(
  maestro: Maestro,
  idOrKey: string,
  given: string | undefined,
): Promise<Team | undefined> {
  if (given !== undefined) return (await loadTeamFile(given)).team;
  const { teamFile } = await maestro.show(idOrKey);
  if (teamFile === null) return undefined;
  if (existsSync(teamFile)) return (await loadTeamFile(teamFile)).team;
  say(`The team file ${teamFile} is gone; going on with the team as it was recorded.`);
  return undefined;
}
