import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { FaultPoint } from "../../src/testing/index.ts";
import { survivors } from "../crash/hostile-support/survivors.ts";
import { endingOf } from "../crash/support/expectations.ts";
import { Place } from "../crash/support/place.ts";
import { rowsOf } from "../crash/support/recorded.ts";
import { Shop } from "../crash/support/shop.ts";
import { until } from "../crash/support/until.ts";
import { unanswered, workshopEffects, workshopScript } from "../crash/support/workshop-team.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse } from "./campaign.ts";
import { expectNoRepeat, pick, settleAll } from "./settle-effects.ts";

const key = "cashdesk";
const killsPlanned = 4;
const mostDrives = 30;

type Kill =
  | { readonly at: "effect"; readonly effect: string; readonly moment: "before" | "after" }
  | { readonly at: "fault"; readonly point: FaultPoint; readonly hit: number }
  | { readonly at: "time"; readonly afterMs: number };

const points: readonly FaultPoint[] = [
  "effect.intended:before-commit",
  "effect.intended:after-commit",
  "effect.settled:before-commit",
  "effect.settled:after-commit",
  "effect.unknown:before-commit",
  "effect.unknown:after-commit",
  "step.tool:before-commit",
  "step.tool:after-commit",
  "step.model:after-commit",
  "ticket.raised:before-commit",
  "session.claimed:after-commit",
];

/**
 * Models pay, buy and call by tools that must not be repeated in silence, and the answer of one purchase never arrives. A
 * person settles what is unknown. In the end each call has happened exactly once.
 */
export async function killAroundTools(seed: number): Promise<number> {
  const random = seededRandom(seed);
  const plan = Array.from({ length: killsPlanned }, () => planKill(random));
  const place = new Place();
  const shop = await Shop.open(place.marksFile, [unanswered]);
  const script = join(place.stateDir, "../script.json");
  writeFileSync(script, JSON.stringify(workshopScript(shop.url)));
  const live = async (kill?: Kill): Promise<"killed" | "parked" | "completed"> => {
    const driver = place.drive(key, {
      script,
      service: shop.url,
      ...(kill?.at === "fault" && { fault: { point: kill.point, hit: kill.hit, act: "kill" } as const }),
      ...(kill?.at === "effect" && { killIn: kill }),
    });
    shop.kill = kill?.at === "effect" ? { ...kill, program: driver } : undefined;
    const timer = kill?.at === "time" ? setTimeout(() => driver.signal("SIGKILL"), kill.afterMs) : undefined;
    const life = await place.afterlife(driver, key);
    clearTimeout(timer);
    // A person looks when the commands of the killed process have ended as well.
    await until("its commands have ended", () => survivors(`${shop.url}/call`).length === 0);
    expectNoRepeat(place);
    if (life.ended.signal === "SIGKILL") return "killed";
    const ending = endingOf(life) as { readonly status: string; readonly reason?: string };
    if (ending.status !== "completed") expect(ending).toMatchObject({ status: "parked", reason: "unknown" });
    return ending.status === "completed" ? "completed" : "parked";
  };
  const settle = () =>
    settleAll(place, key, random, (_, call) => {
      const asked = JSON.stringify(call);
      const label = workshopEffects.find((one) => asked.includes(one.split(" ")[1] as string)) as string;
      return place.marks.includes(label) ? `${label}, done` : undefined;
    });
  try {
    let kills = 0;
    for (let drives = 1; ; drives += 1) {
      if (drives > mostDrives) throw new Error(`not completed after ${mostDrives} drives`);
      const ended = await live(plan.shift());
      if (ended === "killed") kills += 1;
      if (ended === "parked") await settle();
      if (ended === "completed") break;
    }
    orElse("lost", () => expect(place.marks.toSorted()).toEqual([...workshopEffects].toSorted()));
    const { recorded } = place.lives.at(-1) ?? { recorded: await place.recorded(key) };
    expect(rowsOf(recorded, "attempt.failed"), "no attempt is used up").toEqual([]);
    return kills;
  } catch (cause) {
    throw new Error(`seed ${seed}, kills left ${JSON.stringify(plan)}`, { cause });
  } finally {
    shop.close();
    await place.remove();
  }
}

function planKill(random: () => number): Kill {
  const roll = random();
  if (roll < 0.5) {
    const moment = random() < 0.5 ? "before" : "after";
    return { at: "effect", effect: pick(random, workshopEffects), moment };
  }
  if (roll < 0.85) return { at: "fault", point: pick(random, points), hit: 1 + Math.floor(random() * 4) };
  return { at: "time", afterMs: 300 + random() * 900 };
}
