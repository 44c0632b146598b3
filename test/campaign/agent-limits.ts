import { expect } from "vitest";
import type { RealAgentPlace } from "../agents/support/agent-place.ts";

const sumOf = (calls: readonly { readonly input: number; readonly output: number }[]): number =>
  calls.reduce((sum, { input, output }) => sum + input + output, 0);

/**
 * Lets the agent pass its reserve in its third answer, and resumes it until it is done. Returns by how much the reserve was
 * passed, as a sentence and as a share of it.
 */
export async function passReserve(place: RealAgentPlace, unit: "tokens" | "usd") {
  const { provider } = place;
  const files = 4;
  provider.plan = { files };
  // An answer takes a moment, so that an agent can be ended before it has all of them.
  provider.models.paceMs = 200;
  const reserve = unit === "tokens" ? { tokens: 2200, usd: 5 } : { tokens: 100_000, usd: 0.003 };
  const { ending, usage } = await place.run({ reserve });
  expect(ending).toMatchObject({ status: "parked", reason: "budget" });
  expect(ending.error.message).toMatch(/was ended: this run took .+ more than the reserve of persona agent/);
  // The request that was under way at that moment may be missing.
  const used = usage.inputTokens + usage.outputTokens;
  expect([sumOf(provider.answered), sumOf(provider.answered.slice(0, -1))]).toContain(used);
  const { limit, spent } =
    unit === "tokens"
      ? { limit: reserve.tokens, spent: used }
      : { limit: reserve.usd, spent: usage.costUsd as number };
  expect(spent).toBeGreaterThan(limit);
  let again = await place.run({ reserve });
  for (let resumes = 1; again.ending.status === "parked" && resumes < files; resumes += 1) {
    expect(again.ending).toMatchObject({ reason: "budget" });
    again = await place.run({ reserve });
  }
  expect(again.ending).toMatchObject({ status: "completed" });
  expect(Object.keys(again.files)).toHaveLength(files);
  return { text: ending.error.message as string, share: (spent - limit) / limit };
}

/** The provider refuses every request with this status. */
export async function refuse(place: RealAgentPlace, status: number, headers = {}) {
  const { provider } = place;
  const refusal = { fault: "refuse", status, code: "refused", message: "no more", headers } as const;
  provider.plan = { files: 1, instead: () => refusal };
  const { ending, usage } = await place.run({ maxAttempts: 3, reserve: { tokens: 50_000, usd: 5 } });
  return { stopped: ending, usage, requests: provider.models.requests.length };
}
