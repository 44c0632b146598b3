import { setTimeout as pass } from "node:timers/promises";
import { seededRandom } from "../../unit/domain/seeded-random.ts";
import { expectAsIfNothingHappened, type Undisturbed, undisturbedBy } from "./expectations.ts";
import { Place } from "./place.ts";
import type { TeamName } from "./teams.ts";
import { until } from "./until.ts";

const together = 2;
const effectMs = 10;

interface Moment {
  /** How much of what was left to do is done by then. */
  readonly share: number;
  readonly thenMs: number;
}

/**
 * Sessions of a team, each killed at random moments and then finished, always as if nothing had happened: until so many
 * processes were killed in the middle of their work. Gives how many those were.
 */
export async function killAtRandomMoments(team: TeamName, wanted: number, seed: number): Promise<number> {
  const { durationMs, ...undisturbed } = await measureUndisturbed(team);
  const random = seededRandom(seed);
  let [atWork, index] = [0, 0];
  const worker = async (): Promise<void> => {
    // Moments that hit nobody at work prove little; were there only such, that would be another failure.
    while (atWork < wanted && index < 5 * wanted) {
      index += 1;
      const kills = plan(random, durationMs);
      try {
        atWork += await killAndFinish(team, kills, undisturbed);
      } catch (error) {
        const moment = `moment ${index} of TEST_SEED=${seed}: ${JSON.stringify(kills)}`;
        throw new Error(moment, { cause: error });
      }
    }
  };
  await Promise.all(Array.from({ length: together }, worker));
  return atWork;
}

/** One kill, sometimes a second and a third. Time alone would mostly hit the start of the process. */
function plan(random: () => number, durationMs: number): Moment[] {
  return Array.from({ length: 1 + Math.floor(random() ** 3 * 3) }, () => {
    const isEarly = random() < 0.1;
    return { share: isEarly ? 0 : random(), thenMs: random() * (isEarly ? durationMs : effectMs) };
  });
}

async function killAndFinish(
  team: TeamName,
  kills: readonly Moment[],
  undisturbed: Undisturbed,
): Promise<number> {
  const place = new Place();
  try {
    for (const { share, thenMs } of kills) {
      const done = place.marks.length;
      const goal = done + Math.floor(share * (undisturbed.marks.length - done));
      const victim = place.drive(team, { effectMs });
      await until(
        "the moment has come",
        () => !victim.isAlive || (victim.isReady && place.marks.length >= goal),
      );
      await pass(thenMs);
      victim.signal("SIGKILL");
      await place.afterlife(victim, team);
    }
    await place.afterlife(place.drive(team, { effectMs }), team);
    await expectAsIfNothingHappened(place, team, undisturbed);
    return place.lives.filter(
      ({ ended, recorded }) => ended.signal === "SIGKILL" && recorded.session?.status === "running",
    ).length;
  } finally {
    await place.remove();
  }
}

async function measureUndisturbed(team: TeamName): Promise<Undisturbed & { readonly durationMs: number }> {
  const place = new Place();
  try {
    const program = place.drive(team, { effectMs });
    await until("the process works", () => program.isReady);
    const begin = performance.now();
    await program.ended;
    const durationMs = performance.now() - begin;
    return { ...(await undisturbedBy(place, program, team)), durationMs };
  } finally {
    await place.remove();
  }
}
