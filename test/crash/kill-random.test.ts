import { describe, expect, it } from "vitest";
import { killWhileAttemptsAreCounted } from "../campaign/kill-attempts.ts";
import { killUnderBudget } from "../campaign/kill-budget.ts";
import { killAtRandomMoments, killedTeams } from "../campaign/kill-teams.ts";

/** Kills of several seeds, two trials at a time. */
async function killsOf(seeds: number, trial: (seed: number) => Promise<number>): Promise<number> {
  let [kills, seed] = [0, 0];
  const worker = async (): Promise<void> => {
    while (seed < seeds) {
      const count = await trial((seed += 1));
      kills += count;
    }
  };
  await Promise.all([worker(), worker()]);
  return kills;
}

describe("drivers that are killed at random moments of their work", () => {
  const sessions: Readonly<Record<(typeof killedTeams)[number], number>> = {
    everyday: 10,
    department: 6,
    workshop: 4,
    crew: 4,
    novel: 3,
    branches: 3,
    shop: 3,
  };

  it.each(killedTeams)(
    "the team %s repeats no recorded step and no completed persona, and ends with the results and files of an undisturbed run",
    async (team) => {
      const seeds = sessions[team];
      const kills = await killsOf(seeds, (seed) => killAtRandomMoments(team, seed));
      expect(kills, "killed in the middle of their work").toBeGreaterThan(seeds / 3);
    },
  );

  it("a persona that always fails gets six attempts and one ticket, whichever commit is interrupted", async () => {
    expect(await killsOf(3, killWhileAttemptsAreCounted)).toBeGreaterThan(8);
  });

  it("a crowd of models stays within its budget at every call, and only lost answers are paid twice", async () => {
    expect(await killUnderBudget(1)).toBeGreaterThan(0);
  });
});
