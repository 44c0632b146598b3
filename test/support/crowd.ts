import { defineTeam, persona, phase, type Team } from "../../src/team/define.ts";
import type { ModelTurn, ModelTurnUsage } from "./loopback-model-turn.ts";

/** The usage of each call: less than any call reserves. */
export const crowdUsage: ModelTurnUsage = {
  input: 1500,
  cached: 0,
  cacheWrite: 0,
  output: 100,
  reasoning: 0,
};
export const tokensPerCall = crowdUsage.input + crowdUsage.output;
export const callsPerMember = 2;

/** Many parallel models; each writes its own file and submits. */
export function crowdOf(size: number, budget?: { readonly tokens: number } | { readonly usd: number }): Team {
  return defineTeam("crowd", {
    parallel: size,
    ...(budget !== undefined && { budget }),
    phases: [
      phase("together", {
        personas: Array.from({ length: size }, (_, index) =>
          persona(`member-${index}`, {
            instructions: "Write your file.",
            maxOutputTokens: 200,
            contract: { deliverables: [`members/member-${index}.txt`] },
          }),
        ),
      }),
    ],
  });
}

export function crowdReply(name: string, answersBefore: number): ModelTurn {
  const [tool, input] =
    answersBefore === 0
      ? ["write_file", { path: `members/${name}.txt`, content: `${name} was here\n` }]
      : ["submit", { summary: "done" }];
  return { calls: [{ id: "c", tool, input }] };
}
