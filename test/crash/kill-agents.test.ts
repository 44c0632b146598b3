import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeSandbox } from "../../src/index.ts";
import { killAgents } from "../campaign/agents.ts";
import { AgentPlace, agentCommands } from "./support/agent-place.ts";
import { asOnlooker } from "./support/onlooker.ts";

let place: AgentPlace;
beforeEach(() => {
  place = new AgentPlace();
});
afterEach(() => place.remove());

const sandbox = await describeSandbox();
const ways = [
  ["in bubblewrap (needs bubblewrap)", sandbox.kind !== "none"],
  ["without a sandbox", false],
] as const;
const actions = () => place.log().map((line) => line.slice(1).join(" "));

describe.each(ways)("Maestro is killed while an agent works %s", (name, isSandboxed) => {
  const skipped = name.startsWith("in") && !isSandboxed;
  const cases = [
    ["claude", "1"],
    ["claude", "3"],
    ["codex", "2"],
  ] as const;

  it.skipIf(skipped).each(cases)(
    "%s continues its conversation after a kill in turn %s, and no turn is paid twice",
    async (agent, turn) => {
      if (!isSandboxed) place.withoutSandbox();
      await place.killWhileHeld(agentCommands[agent], turn);
      const { id, ending, files, usage } = await place.continueHeld(agentCommands[agent], turn);
      expect(ending).toMatchObject({ status: "completed" });
      const { summary, outputs } = ending.results.only.agent;
      expect(summary).toBe("all four parts");
      expect(files).toEqual(AgentPlace.filesOf(outputs.session));
      expect(actions()).toEqual([
        "begins anew",
        ...[1, 2, 3, 4].slice(0, Number(turn)).map((number) => `turn ${number}`),
        "begins again",
        ...[1, 2, 3, 4].slice(Number(turn)).map((number) => `turn ${number}`),
      ]);
      // The killed call is estimated, the other one is settled.
      const { usage: shown } = await asOnlooker(place, (maestro) => maestro.show("agents"));
      expect(shown).toMatchObject({ calls: 2, unreportedCalls: 1, inputTokens: 100 });
      expect(usage.inputTokens).toBe(100);
      // Opening a state directory also removes the folder of a finished session.
      const kept = join(place.stateDir, "scratch", "kept", id);
      expect(existsSync(kept) ? readdirSync(kept) : []).toEqual([]);
    },
  );

  it.skipIf(skipped)(
    "an agent that has not printed its session id starts over from its first files",
    async () => {
      if (!isSandboxed) place.withoutSandbox();
      await place.killWhileHeld(agentCommands.claude, "start");
      const { ending, files } = await place.continueHeld(agentCommands.claude, "start");
      expect(ending).toMatchObject({ status: "completed" });
      expect(Object.keys(files)).toHaveLength(4);
      expect(actions()).toEqual([
        "begins anew",
        "begins anew",
        ...[1, 2, 3, 4].map((number) => `turn ${number}`),
      ]);
    },
  );

  it.skipIf(skipped)("an agent that Maestro cannot resume starts over from its first files", async () => {
    if (!isSandboxed) place.withoutSandbox();
    // It prints Claude's events under another name.
    const argv = [place.install("own"), "-p"];
    await place.killWhileHeld(argv, "2");
    const { files, ending } = await place.continueHeld(argv, "2");
    expect(ending).toMatchObject({ status: "completed" });
    expect(Object.keys(files)).toHaveLength(4);
    const turns = place.log().filter(([, word]) => word === "turn");
    expect(turns.map(([, , turn]) => turn)).toEqual(["1", "2", "1", "2", "3", "4"]);
  });
});

it.each([
  ["claude", 11],
  ["codex", 12],
] as const)("%s keeps one conversation through kills at random moments (seed %i)", async (agent, seed) => {
  expect(await killAgents(agent, sandbox.kind === "none", seed)).toBeGreaterThan(0);
});
