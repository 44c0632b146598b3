import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { endingOf } from "../crash/support/expectations.ts";
import { Place } from "../crash/support/place.ts";
import type { Program } from "../crash/support/program.ts";
import { rowsOf } from "../crash/support/recorded.ts";
import { until } from "../crash/support/until.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse } from "./campaign.ts";
import { finish } from "./effects.ts";
import { expectNoRepeat, pick } from "./settle-effects.ts";

const key = "treasury";
const leaseMs = 1_000;
/** Those with a probe. */
const probed = ["clerk: ship 1", "clerk: ship 2", "clerk: ship 3"] as const;

/**
 * A process is stopped inside an effect and loses its lease. The next one asks the probe, which says that the effect did not
 * happen. This is not believed, because the stopped process may continue; and then it does, or it is
 * killed. Returns 0 where it was stopped inside a commit.
 */
export async function stopOwner(seed: number): Promise<number> {
  const random = seededRandom(seed);
  const place = new Place();
  const effect = pick(random, probed);
  try {
    const owner = place.drive(key, { leaseMs, killIn: { effect, moment: "before", by: "SIGSTOP" } });
    await until("the owner is stopped", () => isStopped(owner));
    let next = await place.afterlife(place.drive(key, { leaseMs }), key);
    await until("the lease of the stopped owner is over", async () => {
      const isHeld = next.ended.stderr.includes("LeaseHeld");
      if (isHeld) next = await place.afterlife(place.drive(key, { leaseMs }), key);
      return !isHeld;
    });
    // Stopped exactly inside a commit of another step it holds the lock of the database: nothing can take over.
    if (next.ended.stderr.includes("stayed locked by another process")) return 0;
    expect(endingOf(next)).toMatchObject({ status: "parked", reason: "unknown" });
    const because = rowsOf(next.recorded, "effect.unknown").find(({ name }) =>
      effect.endsWith(name),
    )?.because;
    orElse("repeated", () => {
      expect(because).toContain("The process that began it may still be alive");
      expect(place.marks).not.toContain(effect);
    });
    const continues = random() < 0.5;
    if (continues) {
      place.openDoor();
      owner.signal("SIGCONT");
      await until("the effect has happened", () => place.marks.includes(effect));
    }
    await owner.end();
    await finish(place, random);
    expectNoRepeat(place);
    return 1;
  } catch (cause) {
    throw new Error(`seed ${seed}, effect ${effect}`, { cause });
  } finally {
    await place.remove();
  }
}

/** All threads of it. */
function isStopped({ pid, isAlive }: Program): boolean {
  if (!isAlive) throw new Error("the owner has ended");
  return /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}
