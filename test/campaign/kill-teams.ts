import { setTimeout as pass } from "node:timers/promises";
import { expectAsIfNothingHappened, type Undisturbed, undisturbedBy } from "../crash/support/expectations.ts";
import { Place } from "../crash/support/place.ts";
import type { TeamName } from "../crash/support/teams.ts";
import { until } from "../crash/support/until.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";

const effectMs = 10;

export const killedTeams = [
  "everyday",
  "department",
  "workshop",
  "crew",
  "novel",
  "branches",
  "shop",
] as const satisfies readonly TeamName[];

type KilledTeam = (typeof killedTeams)[number];

interface Moment {
  /** The share of the remaining work that is done by then. */
  readonly share: number;
  readonly thenMs: number;
}

type Measured = Undisturbed & { readonly durationMs: number };
const measured = new Map<KilledTeam, Promise<Measured>>();

/**
 * Kills the drivers of one session at one to three random moments and then lets it finish: the outcome must equal that of
 * an undisturbed run. Returns how many processes died in the middle of their work.
 */
export async function killAtRandomMoments(team: KilledTeam, seed: number): Promise<number> {
  if (!measured.has(team)) measured.set(team, measureUndisturbed(team));
  const undisturbed = await (measured.get(team) as Promise<Measured>);
  const kills = plan(seededRandom(seed), undisturbed.durationMs);
  try {
    return await killAndFinish(team, kills, undisturbed);
  } catch (cause) {
    throw new Error(`team ${team}, seed ${seed}, kills ${JSON.stringify(kills)}`, { cause });
  }
}

/** Time alone would mostly hit the start of the process, so most moments are shares of the work. */
function plan(random: () => number, durationMs: number): Moment[] {
  return Array.from({ length: 1 + Math.floor(random() ** 3 * 3) }, () => {
    const isEarly = random() < 0.1;
    return { share: isEarly ? 0 : random(), thenMs: random() * (isEarly ? durationMs : effectMs) };
  });
}

async function killAndFinish(
  team: KilledTeam,
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

async function measureUndisturbed(team: KilledTeam): Promise<Measured> {
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
