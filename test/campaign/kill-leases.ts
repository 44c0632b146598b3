import { expect } from "vitest";
import type { Answer } from "../crash/support/claimant.ts";
import { Contest } from "../crash/support/contest.ts";
import { readRecorded } from "../crash/support/recorded.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse } from "./campaign.ts";

/** Eight processes compete for one session. Each holder is killed, and exactly one of the others takes over. */
export async function killLeaseHolders(seed: number, rounds = 10): Promise<number> {
  const random = seededRandom(seed);
  const contest = await Contest.begin();
  try {
    const claimants = Array.from({ length: 8 }, () => contest.claimant());
    let holder = await contest.winnerOf(claimants);
    for (let round = 1; round <= rounds; round += 1) {
      if (random() < 0.8) await contest.order(holder, { do: "write", row: `round-${round}` });
      claimants.splice(claimants.indexOf(holder), 1);
      await holder.end();
      holder = await contest.winnerOf(claimants);
      const newcomer = contest.claimant();
      const answer: Answer = await contest.order(newcomer, { do: "claim" });
      orElse("repeated", () => expect(answer).toEqual({ refused: "LEASE_HELD" }));
      claimants.push(newcomer);
    }
    await contest.order(holder, { do: "write", row: "last" });
    const { rows } = await readRecorded(contest.place.stateDir, contest.key);
    orElse("lost", () => expect(rows.at(-1)?.epoch).toBe(rounds + 1));
    return rounds;
  } catch (cause) {
    throw new Error(`seed ${seed}`, { cause });
  } finally {
    await contest.end();
  }
}
