import { setTimeout as pass } from "node:timers/promises";
import { expect, test } from "vitest";
import { BrokenPromise, type Campaign, conduct, type Fault, type Trial } from "../../campaign/campaign.ts";

interface Ran {
  readonly title: string;
  readonly seed: number;
}

/** A campaign whose trials note that they ran. */
function campaign(name: string, tries: string, trials: readonly Partial<Trial>[], ran: Ran[]): Campaign {
  const load = async () =>
    trials.map((trial, index): Trial => {
      const title = `${name} ${index}`;
      const run = async (seed: number) => {
        ran.push({ title, seed });
        await pass(1);
        return trial.run === undefined ? 3 : await trial.run(seed);
      };
      return { title, ...trial, run };
    });
  return { name, about: "", tries, load };
}

const breaks = (fault: Fault) => ({ run: () => Promise.reject(new BrokenPromise(fault, "broken")) });
const options = { seed: 100, minutes: 1, trials: 12, together: 4, report: () => {} };

test("all kinds of campaigns get their share, and one line counts what each tried", async () => {
  const ran: Ran[] = [];
  const parts = [
    campaign("kill", "kills", [{}, {}], ran),
    campaign("points", "kills", [{}], ran),
    campaign("attacks", "attacks", [{ tries: "requests" }, { tries: "imports" }, {}], ran),
  ];
  const { isClean, line } = await conduct("hostile", parts, { ...options, trials: 120 });
  expect(isClean).toBe(true);
  expect(line).toMatch(
    /^campaign hostile: tried \d+ kills, \d+ requests, \d+ imports, \d+ attacks in 120 trials, lost 0, repeated 0, let in 0, raw error 0, failed otherwise 0 /,
  );
  const counted = [...line.matchAll(/(\d+) (?:kills|requests|imports|attacks)/g)].map(([, count]) =>
    Number(count),
  );
  expect(counted.reduce((sum, count) => sum + count, 0)).toBe(3 * 120);
  expect(Math.min(...counted)).toBeGreaterThan(0);
  expect(new Set(ran.map(({ title }) => title)).size).toBe(6);
});

test("a seed alone repeats a trial of any campaign", async () => {
  const ran: Ran[] = [];
  const said: string[] = [];
  const attacks = campaign("attacks", "attacks", [{ tries: "requests" }, breaks("let in"), {}], ran);
  const parts = [campaign("kill", "kills", [{}], ran), attacks];
  const { isClean, line } = await conduct("hostile", parts, {
    ...options,
    report: (text) => said.push(text),
  });
  expect(isClean).toBe(false);
  expect(line).toMatch(/let in [1-9]/);
  const [, seed] =
    /repeat with: npm run campaign -- attacks --seed (\d+) --trials 1/.exec(said.join("\n")) ?? [];
  ran.length = 0;
  await conduct("attacks", [attacks], { ...options, seed: Number(seed), trials: 1, together: 1 });
  expect(ran).toEqual([{ title: "attacks 1", seed: Number(seed) }]);
});

test("a kind that was not tried at all is not clean", async () => {
  const ran: Ran[] = [];
  const parts = [
    campaign("kill", "kills", [{}], ran),
    campaign("power", "cuts", [{ run: async () => 0 }], ran),
  ];
  const { isClean, line } = await conduct("hostile", parts, { ...options, trials: 1_000, minutes: 0.001 });
  expect(line).toMatch(/ 0 cuts /);
  expect(isClean).toBe(false);
});

test("a campaign that the machine cannot run is named, and the others run", async () => {
  const said: string[] = [];
  const parts = [campaign("kill", "kills", [{}], []), campaign("power", "cuts", [], [])];
  const { isClean } = await conduct("hostile", parts, { ...options, report: (text) => said.push(text) });
  expect(isClean).toBe(true);
  expect(said.join()).toContain("campaign power cannot run on this machine");
});
