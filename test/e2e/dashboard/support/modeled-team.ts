import { defineTeam, persona, phase } from "../../../../src/index.ts";

/** What a function prepared, a model writes about, with a limit that its first call does not fit into. */
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
