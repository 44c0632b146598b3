import { InputInvalid } from "../../../src/domain/errors.ts";
import type { ArmedFault } from "../../../src/store/fault-points.ts";
import { leaveMark } from "./effects.ts";
import { armFault, defineTeam, durableModel, open, persona, phase } from "./package.ts";

/** A process whose persona asks a model for a long answer under a small budget, raises the budget and resumes. */
export interface TightOptions {
  readonly stateDir: string;
  readonly marks: string;
  readonly key: string;
  readonly fault?: ArmedFault | undefined;
}

const { stateDir, marks, key, fault } = JSON.parse(process.argv[2] ?? "") as TightOptions;
const [input, answerLength] = [200, 4_000];

/** Needs 4,000 tokens for its answer, and leaves a mark for each call. */
const model = {
  specificationVersion: "v4",
  provider: "acme",
  modelId: "long",
  supportedUrls: {},
  doGenerate: async ({ maxOutputTokens }: { readonly maxOutputTokens: number }) => {
    leaveMark(marks, `call ${maxOutputTokens >= answerLength ? "whole" : "cut"}`);
    const isCut = maxOutputTokens < answerLength;
    const output = Math.min(answerLength, maxOutputTokens);
    return {
      content: [{ type: "text", text: "words" }],
      finishReason: isCut ? { unified: "length", raw: "length" } : { unified: "stop", raw: "stop" },
      warnings: [],
      usage: {
        inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: output, text: output, reasoning: 0 },
      },
    };
  },
  doStream: () => Promise.reject(new InputInvalid("not asked")),
};

armFault(fault);
const team = defineTeam("tight", {
  budget: { tokens: 5_000 },
  phases: [
    phase("only", {
      personas: [
        persona("writer", {
          run: async (context) => {
            const prompt = [{ role: "user", content: [{ type: "text", text: "Write it." }] }];
            await durableModel(model, context).doGenerate({ prompt, maxOutputTokens: 8_000 });
            return { summary: "done" };
          },
        }),
      ],
    }),
  ],
});
const maestro = await open({ stateDir, teams: [team] });
const session = await maestro.start(team, { brief: "Anything.", key });
let ending = await session.result();
if (ending.reason === "budget") {
  await maestro.setBudget(session.id, { tokens: 100_000 });
  ending = await (await maestro.resume(session.id)).result();
}
const { phases } = await maestro.show(session.id);
const attempts = phases.flatMap(({ personas }) => personas.map((each) => each.attempts.length));
console.log(JSON.stringify({ status: ending.status, attempts }));
await maestro.close();
