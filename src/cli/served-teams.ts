import type { Config } from "../config/config.ts";
import { loadTrustedTeam } from "../config/team-trust.ts";
import { builtInTeam } from "../index.ts";

/** The built-in team is always offered, unless a file has the same name. */
export async function loadTeams(paths: readonly string[], sandbox: Config["sandbox"]) {
  const given = await Promise.all(
    paths.map(async (path) => {
      const { team, file } = await loadTrustedTeam(path, process.env, sandbox);
      return { team, file, builtIn: false };
    }),
  );
  const own = await builtInTeam();
  const isTaken = given.some(({ team }) => team.name === own.name);
  return isTaken ? given : [...given, { team: own, file: undefined, builtIn: true }];
}
