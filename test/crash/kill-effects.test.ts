import { expect, it } from "vitest";
import { covered, killAroundEffects } from "../campaign/effects.ts";

it("effects that must happen at most once happen once, wherever their process is killed, and no kill uses up an attempt", async () => {
  let kills = 0;
  for (let seed = 1; seed <= 8; seed += 1) kills += await killAroundEffects(seed);
  expect(kills, "killed around effects").toBeGreaterThan(10);
  expect(covered.probed, "outcomes that a probe knew").toBeGreaterThan(0);
  expect(covered.parked, "sessions that parked").toBeGreaterThan(0);
  expect(covered.settled, "outcomes that a person said").toBeGreaterThan(0);
  expect(covered.reused, "results that a later attempt got").toBeGreaterThan(0);
});
