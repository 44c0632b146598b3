import { expect, it, onTestFinished } from "vitest";
import { describeSandbox } from "../../src/index.ts";
import { agentNames } from "./support/agent-commands.ts";
import { RealAgentPlace } from "./support/agent-place.ts";

const isSandboxed = (await describeSandbox()).kind !== "none";

it.each(agentNames)("%s works as a persona, and its files are taken over", async (agent) => {
  const place = await RealAgentPlace.open(agent, isSandboxed);
  onTestFinished(() => place.close());
  const { ending, files } = await place.run();
  expect(ending).toMatchObject({ status: "completed" });
  expect(files).toEqual({ "part-1.txt": "part 1", "part-2.txt": "part 2" });
});
