import { setTimeout as pass } from "node:timers/promises";
import { expect } from "vitest";
import { AgentPlace, agentCommands } from "../crash/support/agent-place.ts";
import { until } from "../crash/support/until.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse, type Trial } from "./campaign.ts";

const mostKills = 4;
const turnMs = 60;

export const agentTrials: readonly Trial[] = (["claude", "codex"] as const).flatMap((agent) =>
  ["sandboxed", "bare"].map((way) => ({
    title: `${agent}, ${way}`,
    run: (seed: number) => killAgents(agent, way === "bare", seed),
  })),
);

/** Kills Maestro at random moments of an agent's conversation: each next process continues the same conversation. */
export async function killAgents(
  agent: keyof typeof agentCommands,
  isBare: boolean,
  seed: number,
): Promise<number> {
  const random = seededRandom(seed);
  const place = new AgentPlace({ turnMs });
  try {
    if (isBare) place.withoutSandbox();
    let kills = 0;
    while (kills < mostKills) {
      const lines = place.log().length;
      const goal = lines + Math.floor(random() * 5);
      const program = place.drive(agentCommands[agent]);
      await until("the moment has come", () => !program.isAlive || place.log().length >= goal);
      await pass(random() * turnMs);
      program.signal("SIGKILL");
      if ((await program.ended).signal !== "SIGKILL") break;
      kills += 1;
    }
    const { ending, files } = await place.finish(agentCommands[agent]);
    expect(ending).toMatchObject({ status: "completed" });
    const { summary, outputs } = ending.results.only.agent;
    expect(summary).toBe("all four parts");
    orElse("lost", () => expect(files).toEqual(AgentPlace.filesOf(outputs.session)));
    expectOneConversation(place.log(), kills);
    return kills;
  } catch (cause) {
    throw new Error(`${agent}, seed ${seed}`, { cause });
  } finally {
    await place.remove();
  }
}

/** A conversation begins anew only after a kill that came before its id was recorded; its turns never run twice. */
function expectOneConversation(log: readonly string[][], kills: number): void {
  const begun = log.filter(([, word]) => word === "begins");
  const last = log.findLastIndex(([, word, how]) => word === "begins" && how === "anew");
  const turns = log
    .slice(last)
    .filter(([, word]) => word === "turn")
    .map(([, , turn]) => turn);
  // A kill between a turn and its line in the log leaves the line out.
  orElse("repeated", () => expect(turns, "turns of the last conversation").toEqual([...new Set(turns)]));
  expect(begun.length).toBeLessThanOrEqual(kills + 1);
}
