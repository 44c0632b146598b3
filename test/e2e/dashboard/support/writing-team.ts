import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { defineTeam, persona, phase } from "../../../../src/index.ts";

const schema = {
  type: "object",
  properties: { folder: { type: "string" }, to: { type: "string" } },
  required: ["folder", "to"],
};

/** Sends two letters after a person's approval, then asks one question with choices and one without. */
export default defineTeam("writing", {
  phases: [
    phase("write", {
      personas: [
        persona("writer", {
          tools: {
            send: {
              description: "Sends a letter.",
              inputSchema: schema,
              execute: ({ folder, to }: { readonly folder: string; readonly to: string }) => {
                appendFileSync(join(folder, "effects.txt"), `sent to ${to}\n`);
                return `sent to ${to}`;
              },
            } as never,
            ask_person: true,
          },
          approve: ["send"],
          run: async ({ tools, brief }) => {
            const said = [
              await tools["send"]?.execute({ folder: brief, to: "Ann" }),
              await tools["send"]?.execute({ folder: brief, to: "Bob" }),
              await tools["ask_person"]?.execute({ question: "Which color?", choices: ["red", "blue"] }),
              await tools["ask_person"]?.execute({ question: "How should it end?" }),
            ];
            return { summary: said.join("; ") };
          },
        }),
      ],
    }),
  ],
});
