import { expect, it, onTestFinished } from "vitest";
import { describeSandbox } from "../../src/index.ts";
import { agentNames, type RealAgent } from "./support/agent-commands.ts";
import { RealAgentPlace } from "./support/agent-place.ts";

const isSandboxed = (await describeSandbox()).kind !== "none";

async function open(agent: RealAgent): Promise<RealAgentPlace> {
  const place = await RealAgentPlace.open(agent, isSandboxed);
  onTestFinished(() => place.close());
  return place;
}

it.each(agentNames)(
  "%s works by its name alone: its files and its last word are taken over, and the ledger has every token that its provider counted",
  async (agent) => {
    const place = await open(agent);
    const { ending, files, usage } = await place.outcome(place.driveNamed(agent, { permissions: "full" }));
    expect(ending).toMatchObject({ status: "completed" });
    expect(files).toEqual({ "part-1.txt": "part 1", "part-2.txt": "part 2" });
    expect(ending.results.only.agent.summary).toBe("wrote all parts");
    expect(usage).toMatchObject({ calls: 1, unreportedCalls: 0, unpricedCalls: 0, ...place.provider.total });
    expect(usage.costUsd).toBeGreaterThan(0);
  },
);

it("Codex that may only read changes no file, although it tries", async () => {
  const place = await open("codex");
  place.provider.plan = { files: 1 };
  const { ending, files } = await place.outcome(place.driveNamed("codex", { permissions: "read" }));
  expect(ending).toMatchObject({ status: "completed" });
  expect(place.provider.answered).toHaveLength(2);
  expect(files).toEqual({});
});

it.runIf(isSandboxed)(
  "Codex with a sandbox of its own, which cannot start in Maestro's, is refused before its first call",
  async () => {
    const place = await open("codex");
    const own = ["codex", "exec", "--json", "--sandbox", "workspace-write"];
    const { ending, usage } = await place.run({ command: own, maxAttempts: 3 });
    expect(ending).toMatchObject({ status: "parked", reason: "help" });
    expect(ending.error.message).toContain("--sandbox workspace-write starts a sandbox of Codex's own");
    expect(place.provider.models.requests).toEqual([]);
    expect(usage).toMatchObject({ calls: 0 });
  },
);
