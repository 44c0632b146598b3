import { expect, it, onTestFinished } from "vitest";
import { describeSandbox } from "../../src/index.ts";
import { passReserve, refuse } from "../campaign/agent-limits.ts";
import type { RealAgent } from "./support/agent-commands.ts";
import { RealAgentPlace } from "./support/agent-place.ts";

const isSandboxed = (await describeSandbox()).kind !== "none";

async function open(agent: RealAgent): Promise<RealAgentPlace> {
  const place = await RealAgentPlace.open(agent, isSandboxed);
  onTestFinished(() => place.close());
  return place;
}

it.each([
  ["claude", "tokens"],
  ["codex", "usd"],
] as const)(
  "%s is ended in the middle of a run when it passes its reserve of %s, and its conversation continues after a resume",
  async (agent, unit) => {
    const passed = await passReserve(await open(agent), unit);
    console.log(`${agent}: ended ${passed.text}`);
    expect(passed.share).toBeLessThan(1);
  },
);

it("Claude that ends itself at its own limit in dollars waits for budget, and the same limit does not end its resumed conversation at once", async () => {
  const place = await open("claude");
  const own = { command: [...place.command.argv, "--max-budget-usd", "0.004"] };
  const { ending, usage, phases } = await place.run({ ...own, reserve: { tokens: 100_000, usd: 5 } });
  expect(ending).toMatchObject({ status: "parked", reason: "budget" });
  expect(ending.error.message).toMatch(/^claude ended at its own limit: Reached maximum budget \(\$0\.004\)/);
  expect(usage).toMatchObject(place.provider.total);
  expect(usage.costUsd).toBeGreaterThanOrEqual(0.004);
  expect(phases[0].personas[0].attempts).toMatchObject([{ attempt: 1, failure: null }]);
  const again = await place.run({ ...own, reserve: { tokens: 100_000, usd: 5 } });
  expect(again.ending).toMatchObject({ status: "completed" });
  expect(again.usage).toMatchObject(place.provider.total);
  expect(again.files).toEqual({ "part-1.txt": "part 1", "part-2.txt": "part 2" });
});

it("Claude by its name is ended at its reserve in dollars, which it has for each of its runs", async () => {
  const place = await open("claude");
  const named = { permissions: "full", reserve: { tokens: 100_000, usd: 0.004 } } as const;
  const { ending } = await place.outcome(place.driveNamed("claude", named));
  expect(ending).toMatchObject({ status: "parked", reason: "budget" });
  const again = await place.outcome(place.driveNamed("claude", named));
  expect(again.ending).toMatchObject({ status: "completed" });
});

it.each([
  ["claude", 401],
  ["codex", 401],
  ["claude", 404],
] as const)(
  "%s that its provider refuses with %i is ended at once and asks for a person",
  async (agent, status) => {
    const { stopped, requests } = await refuse(await open(agent), status);
    expect(stopped).toMatchObject({ status: "parked", reason: "help" });
    expect(requests).toBeLessThanOrEqual(3);
  },
);
