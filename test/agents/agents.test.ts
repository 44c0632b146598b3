import { expect, it, onTestFinished } from "vitest";
import { describeSandbox } from "../../src/index.ts";
import { agentNames } from "./support/agent-commands.ts";
import { RealAgentPlace } from "./support/agent-place.ts";

const isSandboxed = (await describeSandbox()).kind !== "none";

it.each(agentNames)(
  "%s works as a persona: its files and its last word are taken over, and the ledger has every token that its provider counted",
  async (agent) => {
    const place = await RealAgentPlace.open(agent, isSandboxed);
    onTestFinished(() => place.close());
    const { ending, files, usage } = await place.run();
    expect(ending).toMatchObject({ status: "completed" });
    expect(files).toEqual({ "part-1.txt": "part 1", "part-2.txt": "part 2" });
    expect(ending.results.only.agent.summary).toBe("wrote all parts");
    expect(usage).toMatchObject({ calls: 1, unreportedCalls: 0, unpricedCalls: 0, ...place.provider.total });
    expect(usage.costUsd).toBeGreaterThan(0);
  },
);
