import { existsSync } from "node:fs";
import type { Maestro, Team } from "../index.ts";
import { say } from "./output.ts";

/** The team of a file, or the built-in one, which has none: it is part of what is installed. */
export async function loadTeamFile(
  file: string | undefined,
): Promise<{ readonly team: Team; readonly file?: string }> {
  const { builtInTeam, loadTeam } = await import("../index.ts");
  return file === undefined ? { team: await builtInTeam() } : loadTeam(file);
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
