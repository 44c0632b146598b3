import { fileURLToPath } from "node:url";
import { didYouMean } from "../domain/closest.ts";
import { TeamInvalid } from "../domain/errors.ts";
import { packageFile } from "../package-files.ts";
import type { Team } from "./define.ts";
import { loadTeam } from "./load-team.ts";

export const builtInTeams = ["software-delivery"] as const;
export type BuiltInTeam = (typeof builtInTeams)[number];

/** Used when no other team is named. */
export const defaultTeam: BuiltInTeam = "software-delivery";

/** A team that ships with Maestro. */
export async function builtInTeam(name: string = defaultTeam): Promise<Team> {
  const known = builtInTeams.find((team) => team === name);
  if (known === undefined) {
    throw new TeamInvalid(`There is no built-in team "${name}".${didYouMean(name, builtInTeams)}`, {
      details: { team: name, known: builtInTeams },
      advice: `The built-in teams are: ${builtInTeams.join(", ")}. Give your own with --team.`,
    });
  }
  const file = fileURLToPath(packageFile(`teams/${known}.yaml`));
  return (await loadTeam(file)).team;
}
