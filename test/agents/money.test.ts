import { expect, it, onTestFinished } from "vitest";
import { describeSandbox } from "../../src/index.ts";
import { killInRequest, runOutOfTime } from "../campaign/real-agents.ts";
import type { RealAgent } from "./support/agent-commands.ts";
import { RealAgentPlace } from "./support/agent-place.ts";

const isSandboxed = (await describeSandbox()).kind !== "none";

async function open(agent: RealAgent): Promise<RealAgentPlace> {
  const place = await RealAgentPlace.open(agent, isSandboxed);
  onTestFinished(() => place.close());
  return place;
}

it("the tokens of Claude's sub-agents are in the ledger", async () => {
  const place = await open("claude");
  place.provider.plan = { files: 2, delegates: true };
  const { ending, files, usage } = await place.run();
  expect(ending).toMatchObject({ status: "completed" });
  expect(files).toMatchObject({ "delegated.txt": "by the sub-agent" });
  expect(place.provider.answered.length).toBeGreaterThanOrEqual(4);
  expect(usage).toMatchObject(place.provider.total);
});

it.each(["claude", "codex"] as const)(
  "%s is killed with Maestro in its third request: the answers before it are booked once, and so are those after it",
  async (agent) => {
    await expect(killInRequest(agent, isSandboxed, 3)).resolves.toBeUndefined();
  },
);

it("Codex runs out of its time and begins again: the answers that it had before are booked to the token", async () => {
  await expect(runOutOfTime("codex", isSandboxed, 3)).resolves.toBeUndefined();
});

it.each(["claude", "codex"] as const)(
  "%s fails after two answers because its provider refuses the third: the two are booked to the token",
  async (agent) => {
    const place = await open(agent);
    const refusal = {
      fault: "refuse",
      status: 400,
      code: "invalid_request_error",
      message: "no more",
    } as const;
    place.provider.plan = { files: 4, instead: (number) => (number > 2 ? refusal : undefined) };
    const { ending, usage } = await place.run({ reserve: { tokens: 50_000, usd: 5 } });
    expect(ending).toMatchObject({ status: "parked" });
    expect(usage).toMatchObject(place.provider.total);
  },
);

it("a model without a known price has no price, although money was reserved for it", async () => {
  const place = await open("codex");
  const command = place.command.argv.map((word) => (word === "gpt-5-codex" ? "model-without-price" : word));
  const { ending, usage } = await place.run({ command, reserve: { tokens: 50_000, usd: 5 } });
  expect(ending).toMatchObject({ status: "completed" });
  expect(usage).toMatchObject({ costUsd: null, unpricedCalls: 1, ...place.provider.total });
});

it("a result keeps the values of variables that are no secrets, and masks the others", async () => {
  const place = await open("claude");
  place.provider.plan = {
    files: 0,
    lastWord: { summary: "built", outputs: { target: "production", key: "hush-hush-hush-7" } },
  };
  const { ending } = await place.run({}, { NODE_ENV: "production", DEPLOY_TOKEN: "hush-hush-hush-7" });
  expect(ending.results.only.agent.outputs).toEqual({ target: "production", key: "[redacted]" });
});
