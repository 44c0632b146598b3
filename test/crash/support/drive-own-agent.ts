import { createOpenAI } from "@ai-sdk/openai";
import { generateText, streamText } from "ai";
import { defineTeam, durableModel, open, persona, phase } from "./package.ts";

/** A process whose persona is a custom agent: code that calls a model through the AI SDK. */
export interface DriveOwnAgentOptions {
  readonly stateDir: string;
  readonly baseURL: string;
  readonly apiKey: string;
  /** Of the whole session. */
  readonly usd?: number;
}

const { stateDir, baseURL, apiKey, usd } = JSON.parse(process.argv[2] ?? "") as DriveOwnAgentOptions;
const provider = createOpenAI({ baseURL, apiKey });

const agent = persona("agent", {
  run: async (context) => {
    const model = durableModel(provider("gpt-5"), context);
    const limits = { maxOutputTokens: 500, maxRetries: 0 };
    const plan = await generateText({ model, prompt: "Plan it.", ...limits });
    const answer = streamText({ model, prompt: `Do this: ${plan.text}`, ...limits });
    const last = await generateText({ model, prompt: `Judge this: ${await answer.text}`, ...limits });
    return { summary: last.text, outputs: { plan: plan.text } };
  },
});
const team = defineTeam("own", {
  ...(usd !== undefined && { budget: { usd } }),
  phases: [phase("only", { personas: [agent] })],
});

const maestro = await open({ stateDir, teams: [team] });
const session = await maestro.start(team, { brief: "Anything.", key: "own" });
process.send?.("ready");
const { id: _, ...ending } = await session.result();
const [{ usage }, breakers] = [await maestro.show(session.id), await maestro.breakers()];
console.log(JSON.stringify({ ending, usage, breakers: breakers.map(({ dependency }) => dependency) }));
await maestro.close();
