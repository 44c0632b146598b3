import { defineTeam, persona, phase } from "../../../../src/index.ts";

/** A model writes about the facts of a function. Its first call exceeds the budget. */
export default defineTeam("modeled", {
  model: "simulated",
  budget: { tokens: 2_000 },
  phases: [
    phase("facts", {
      personas: [
        persona("collector", {
          run: async ({ workspace }) => {
            await workspace.write("facts.md", "Parking costs 2 euros an hour.\n");
            return { summary: "one fact" };
          },
        }),
      ],
    }),
    phase("text", {
      personas: [
        persona("writer", {
          instructions: "Write a page about the facts.",
          contract: { deliverables: [{ name: "page", files: ["page.md"] }] },
        }),
      ],
    }),
  ],
});
