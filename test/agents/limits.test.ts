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
