import { expect } from "vitest";
import { setup as installAgents } from "../agents/install.ts";
import { agentNames, type RealAgent } from "../agents/support/agent-commands.ts";
import { RealAgentPlace } from "../agents/support/agent-place.ts";
import { until } from "../crash/support/until.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { killAtRandom } from "./agent-kills.ts";
import { passReserve, refuse } from "./agent-limits.ts";
import { orElse, type Trial } from "./campaign.ts";

/** Agents whose transcripts Maestro reads and whose conversations it resumes. */
export type Resumable = "claude" | "codex";

const reserve = { tokens: 50_000, usd: 5 };
const silent = (request: number) => ({
  files: 4,
  instead: (number: number) => (number === request ? ({ fault: "silence" } as const) : undefined),
});

/** Kills Maestro and its agent while this request is under way; the resumed conversation ends well. */
export async function killInRequest(agent: Resumable, isSandboxed: boolean, request: number): Promise<void> {
  const place = await RealAgentPlace.open(agent, isSandboxed);
  try {
    const { provider } = place;
    provider.plan = silent(request);
    const first = place.drive({ reserve });
    await until("the request is under way", () => provider.models.requests.length === request);
    await until("its session is noted", () => place.hasNoted("session.json"));
    // It writes its transcript a moment later.
    const tokens = provider.answered.reduce((sum, { input, output }) => sum + input + output, 0);
    const mark = agent === "claude" ? `"id":"msg_${request - 1}"` : `"total_tokens":${tokens}`;
    await until("it has written down the answer before", () => place.hasNoted(mark));
    first.signal("SIGKILL");
    await first.ended;
    const { ending, files, usage } = await place.run({ reserve });
    orElse("lost", () => expect(ending).toMatchObject({ status: "completed" }));
    orElse("lost", () => expect(Object.keys(files)).toHaveLength(4));
    // The resumed run is a call of its own, and asks again only for what was under way.
    orElse("repeated", () => expect(provider.answered).toHaveLength(5));
    expect(usage).toMatchObject({ calls: 2, unreportedCalls: 0, estimatedTokens: 0, ...provider.total });
    expect(usage.costUsd).toBeGreaterThan(0);
  } finally {
    await place.close();
  }
}

/** The first run is ended by its time while a request is under way; the second one ends well. */
export async function runOutOfTime(agent: Resumable, isSandboxed: boolean, request: number): Promise<void> {
  const place = await RealAgentPlace.open(agent, isSandboxed);
  try {
    place.provider.plan = silent(request);
    const { ending, usage } = await place.run({ timeoutMs: 8000, reserve });
    expect(ending).toMatchObject({ status: "completed" });
    expect(usage).toMatchObject({ calls: 2, failedCalls: 1, unreportedCalls: 0, ...place.provider.total });
  } finally {
    await place.close();
  }
}

const ways = [
  ["is killed with Maestro", killInRequest],
  ["runs out of its time", runOutOfTime],
] as const;

const trial = (
  agent: RealAgent,
  title: string,
  run: (isSandboxed: boolean, seed: number) => Promise<void>,
): readonly Trial[] =>
  [true, false].map((isSandboxed) => ({
    title: `the real ${agent} ${title}${isSandboxed ? ", sandboxed" : ""}`,
    tries: "runs of real agents",
    run: async (seed) => {
      installAgents();
      await run(isSandboxed, seed);
      return 1;
    },
  }));

async function inPlace(
  agent: RealAgent,
  isSandboxed: boolean,
  run: (place: RealAgentPlace) => Promise<void>,
): Promise<void> {
  const place = await RealAgentPlace.open(agent, isSandboxed);
  try {
    await run(place);
  } finally {
    await place.close();
  }
}

const interrupted = ways.flatMap(([title, run]) =>
  (["claude", "codex"] as const).flatMap((agent) =>
    trial(agent, title, (isSandboxed, seed) =>
      run(agent, isSandboxed, 2 + Math.floor(seededRandom(seed)() * 3)),
    ),
  ),
);

const limited = (["claude", "codex"] as const).flatMap((agent) =>
  (["tokens", "usd"] as const).flatMap((unit) =>
    trial(agent, `passes its reserve of ${unit}`, (isSandboxed) =>
      inPlace(agent, isSandboxed, async (place) => {
        const { share } = await passReserve(place, unit);
        orElse("let in", () => expect(share).toBeLessThan(1));
      }),
    ),
  ),
);

const refused = (
  [
    ...(["claude", "codex"] as const).flatMap((agent) =>
      [401, 402, 404].map((status) => [agent, status] as const),
    ),
    ["gemini", 401],
    ["opencode", 401],
  ] as const
).flatMap(([agent, status]) =>
  trial(agent, `is refused with ${status}`, (isSandboxed) =>
    inPlace(agent, isSandboxed, async (place) => {
      const { stopped, requests } = await refuse(place, status);
      expect(stopped).toMatchObject({ status: "parked", reason: "help" });
      orElse("repeated", () => expect(requests).toBeLessThanOrEqual(3));
    }),
  ),
);

const killsInTrial = 10;

const killed = (["claude", "codex"] as const).flatMap((agent) =>
  trial(agent, `is killed ${killsInTrial} times at random`, (isSandboxed, seed) =>
    inPlace(agent, isSandboxed, async (place) => {
      const { again, kills } = await killAtRandom(place, killsInTrial, seededRandom(seed));
      // One request at most is lost with each kill: an answer that the agent had no time to write down counts as one.
      orElse("repeated", () => expect(again).toBeLessThanOrEqual(kills));
    }),
  ),
);

const written = agentNames.flatMap((agent) =>
  trial(agent, "works by a command line of its team", (isSandboxed) =>
    inPlace(agent, isSandboxed, async (place) => {
      const { ending, files, usage } = await place.run();
      expect(ending).toMatchObject({ status: "completed" });
      orElse("lost", () => expect(Object.keys(files)).toHaveLength(2));
      expect(usage).toMatchObject({ unreportedCalls: 0, unpricedCalls: 0, ...place.provider.total });
    }),
  ),
);

export const realAgentTrials: readonly Trial[] = [
  ...interrupted,
  ...killed,
  ...limited,
  ...refused,
  ...written,
];
