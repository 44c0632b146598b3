import { describe, expect, it } from "vitest";
import { describeSandbox } from "../../src/workspace/sandbox.ts";
import { covered, killAroundEffects } from "../campaign/effects.ts";
import { killAroundActs } from "../campaign/effects-acts.ts";
import { stopOwner } from "../campaign/effects-owners.ts";
import { killServer } from "../campaign/effects-served.ts";
import { killAroundTools } from "../campaign/effects-tools.ts";

const sandbox = await describeSandbox();

it("effects that must happen at most once happen once, wherever their process is killed, and no kill uses up an attempt", async () => {
  let kills = 0;
  for (let seed = 1; seed <= 8; seed += 1) kills += await killAroundEffects(seed);
  expect(kills, "killed around effects").toBeGreaterThan(10);
  expect(covered.probed, "outcomes that a probe knew").toBeGreaterThan(0);
  expect(covered.parked, "sessions that parked").toBeGreaterThan(0);
  expect(covered.settled, "outcomes that a person said").toBeGreaterThan(0);
  expect(covered.reused, "results that a later attempt got").toBeGreaterThan(0);
});

describe.skipIf(sandbox.kind === "none")("calls of models (needs bubblewrap)", () => {
  it("by a tool in code, a server's tool and a command that must not be repeated happen once, also when an answer never arrives", async () => {
    expect(await killAroundTools(1)).toBeGreaterThan(0);
  });
});

it("effects in processes of a server happen once, when the server or the process is killed, also while a person settles over HTTP", async () => {
  expect((await killServer(2)) + (await killServer(12))).toBeGreaterThan(1);
});

it("effects happen again once for each reject and fork that lets them, and a canceled session keeps its effects for a later word", async () => {
  for (const seed of [3, 8, 13]) expect(await killAroundActs(seed)).toBeGreaterThan(0);
});

it("a probe is not believed while a stopped process may still make the effect happen", async () => {
  let stopped = 0;
  for (let seed = 4; stopped === 0 && seed < 9; seed += 1) stopped = await stopOwner(seed);
  expect(stopped).toBe(1);
});
