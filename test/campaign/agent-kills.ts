import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import type { RealAgentPlace } from "../agents/support/agent-place.ts";
import { until } from "../crash/support/until.ts";
import { orElse } from "./campaign.ts";

const enough = 200;
const reserve = { tokens: 2_000_000, usd: 100 };

/**
 * Kills Maestro and its agent so many times, each time at a random moment after a request arrived, and lets the session end.
 * Returns how many requests were asked again, and how many were under way in a kill.
 */
export async function killAtRandom(place: RealAgentPlace, kills: number, random: () => number) {
  const { provider } = place;
  const { models } = provider;
  // An answer takes about half a second, so that a kill may meet it.
  models.paceMs = 40;
  provider.plan = { files: enough };
  let underWay = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const before = models.requests.length;
    const program = place.drive({ reserve });
    await until("a request arrived", () => models.requests.length > before);
    await delay(Math.floor(random() * 2500));
    underWay += models.open;
    program.signal("SIGKILL");
    await program.ended;
    await until("its requests are over", () => models.open === 0);
  }
  // It writes the part that it is at, and ends.
  provider.plan = { files: 0 };
  const { ending, files, usage } = await place.run({ reserve });
  orElse("lost", () => expect(ending).toMatchObject({ status: "completed" }));
  const needed = Object.keys(files).length + 1;
  const again = models.requests.length - needed;
  return { kills, requests: models.requests.length, again, underWay, usage, counted: provider.total };
}
