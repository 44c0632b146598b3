import { appendFileSync } from "node:fs";
import { defineTeam, persona, phase } from "../../../src/index.ts";

/** The brief is the side file. Sends two letters after a person's approval, and asks a person once. */
export default defineTeam("asking", {
  phases: [
    phase("write", {
      personas: [
        persona("writer", {
          tools: {
            send: {
              description: "Sends a letter.",
              inputSchema: {
                type: "object",
                properties: { side: { type: "string" }, to: { type: "string" } },
                required: ["to"],
              },
              execute: ({ side, to }: { readonly side: string; readonly to: string }) => {
                appendFileSync(side, `${to}\n`);
                return `sent to ${to}`;
              },
            } as never,
            ask_person: true,
          },
          approve: ["send"],
          run: async ({ tools, brief }) => {
            const said = [
              await tools["send"]?.execute({ side: brief, to: "Ann" }),
              await tools["send"]?.execute({ side: brief, to: "Bob" }),
              await tools["ask_person"]?.execute({ question: "Which color?", choices: ["red", "blue"] }),
            ];
            return { summary: said.join("; ") };
          },
        }),
      ],
    }),
  ],
});
