import { appendFileSync } from "node:fs";
import { generateText, isStepCount, tool } from "ai";
import { z } from "zod";
import { defineTeam, durableModel, persona, phase } from "../../../../src/index.ts";
import { simulatedModel } from "../../../../src/personas/model/simulated/simulated-model.ts";

const lookup = {
  ...tool({
    description: "Finds the streets of a city.",
    inputSchema: z.object({
      city: z.string(),
      from: z
        .string()
        .optional()
        .transform((text) => (text === undefined ? undefined : new Date(text))),
    }),
    execute: async ({ city, from }) => {
      appendFileSync(process.env["OWN_TOOL_CALLS"] ?? "/dev/null", `${city} ${process.pid}\n`);
      if (city === "nowhere") throw new Error("there is no such city");
      if (city === "exit") process.exit(7);
      return { streets: [`${city} street`], isDate: from instanceof Date };
    },
  }),
  repeatable: true,
};

const script = {
  personas: {
    agent: [
      [
        { calls: [{ tool: "write_file", input: { path: "city.txt", content: "Lisbon\n" } }] },
        { calls: [{ tool: "lookup", input: { city: "Lisbon", from: "2026-01-01" } }] },
        { text: "All streets are known." },
      ],
    ],
  },
};

/** A model with a tool of the team's code, and a function that runs a loop of the AI SDK with its own tools. */
export default defineTeam("tools", {
  model: "simulated",
  phases: [
    phase("model", {
      personas: [
        persona("dev", {
          instructions: "Find the streets.",
          tools: { lookup },
          contract: { deliverables: ["notes.md"] },
        }),
      ],
    }),
    phase("function", {
      personas: [
        persona("agent", {
          tools: { lookup, read_file: true, write_file: true },
          run: async (ctx) => {
            const { text } = await generateText({
              model: durableModel(await simulatedModel(script), ctx),
              instructions: "You are agent in phase function.",
              prompt: "Which streets are there?",
              tools: ctx.tools,
              stopWhen: isStepCount(5),
            });
            const read: unknown = await ctx.tools["read_file"]?.execute({ path: "city.txt" });
            return { summary: text, outputs: { read: String(read), names: Object.keys(ctx.tools) } };
          },
        }),
      ],
    }),
  ],
});
