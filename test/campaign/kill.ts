import type { Trial } from "./campaign.ts";
import { killWhileAttemptsAreCounted } from "./kill-attempts.ts";
import { killWhileOutagesAreCounted } from "./kill-breakers.ts";
import { killUnderBudget } from "./kill-budget.ts";
import { killLeaseHolders } from "./kill-leases.ts";
import { killWhileFilesAreDelivered } from "./kill-out.ts";
import { killAtRandomMoments, killedTeams } from "./kill-teams.ts";

const teams: readonly Trial[] = killedTeams.map((team) => ({
  title: `the team ${team}`,
  run: (seed) => killAtRandomMoments(team, seed),
}));

/** Teams first and last: most of the kills hit whole teams. */
export const killTrials: readonly Trial[] = [
  ...teams,
  { title: "attempts, rounds, breaker and ticket", run: killWhileAttemptsAreCounted },
  { title: "outages that open a breaker", run: killWhileOutagesAreCounted },
  { title: "a crowd of models under a budget", run: killUnderBudget },
  { title: "processes that hold a lease", run: killLeaseHolders },
  { title: "files that are delivered into a folder", run: killWhileFilesAreDelivered },
];
