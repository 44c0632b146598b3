// A process whose persona is an agent of another project. It runs in the folder where its packages are installed.
import { createOpenAI } from "@ai-sdk/openai";

const { agent, maestro: address, stateDir, baseURL, apiKey } = JSON.parse(process.argv[2]);
const { defineTeam, durableModel, open, persona, phase } = await import(address);

const instructions = "Count the people of the cities that are asked for.";
const prompt = "How many people live in Bern and in Basel?";
const description = "Looks up how many people live in a city.";
const people = { Bern: 137_000, Basel: 177_000 };
const look = async ({ city }) => ({ city, people: people[city] });

/** Each asks the model, runs the tool for each of its calls, and gives its last text. */
const agents = {
  generateText: async (model) => {
    const { generateText, isStepCount } = await import("ai");
    const settings = { model, instructions, prompt, tools: await toolsOfSdk(), maxRetries: 0 };
    const { text } = await generateText({ ...settings, stopWhen: isStepCount(5) });
    return text;
  },
  streamText: async (model) => {
    const { isStepCount, streamText } = await import("ai");
    const settings = { model, instructions, prompt, tools: await toolsOfSdk(), maxRetries: 0 };
    return streamText({ ...settings, stopWhen: isStepCount(5) }).text;
  },
  ToolLoopAgent: async (model) => {
    const { ToolLoopAgent } = await import("ai");
    const loop = new ToolLoopAgent({ model, instructions, tools: await toolsOfSdk(), maxRetries: 0 });
    const { text } = await loop.generate({ prompt });
    return text;
  },
  "OpenAI Agents SDK": async (model) => {
    const { Agent, run, setTracingDisabled, tool } = await import("@openai/agents");
    const { aisdk } = await import("@openai/agents-extensions/ai-sdk");
    setTracingDisabled(true);
    const lookup = tool({ name: "lookup", description, parameters: await cityOf(), execute: look });
    const counter = new Agent({ name: "counter", instructions, model: aisdk(model), tools: [lookup] });
    const { finalOutput } = await run(counter, prompt);
    return finalOutput;
  },
  "Mastra Agent": async (model) => {
    const { text } = await (await mastraAgent(model)).generate(prompt);
    return text;
  },
  "Mastra Agent, streamed": async (model) => {
    const { text } = await (await mastraAgent(model)).stream(prompt);
    return text;
  },
};

async function cityOf() {
  const { z } = await import("zod");
  return z.object({ city: z.string() });
}

async function toolsOfSdk() {
  const { tool } = await import("ai");
  return { lookup: tool({ description, inputSchema: await cityOf(), execute: look }) };
}

async function mastraAgent(model) {
  const { Agent } = await import("@mastra/core/agent");
  const { createTool } = await import("@mastra/core/tools");
  const lookup = createTool({ id: "lookup", description, inputSchema: await cityOf(), execute: look });
  return new Agent({ id: "counter", name: "counter", instructions, model, tools: { lookup } });
}

const provider = createOpenAI({ baseURL, apiKey });
const worker = persona("worker", {
  run: async (context) => ({ summary: await agents[agent](durableModel(provider("gpt-5"), context)) }),
});
const team = defineTeam("others", { phases: [phase("only", { personas: [worker] })] });

const maestro = await open({ stateDir, teams: [team] });
const session = await maestro.start(team, { brief: "Anything.", key: "others" });
const { status, error, results } = await session.result();
const { usage } = await maestro.show(session.id);
await maestro.close();
console.log(JSON.stringify({ status, error, summary: results.only?.worker?.summary, usage }));
