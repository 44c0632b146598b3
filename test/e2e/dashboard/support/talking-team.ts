import { defineTeam, persona, phase } from "../../../../src/index.ts";

/** A simulated model whose check always fails, with much to say. */
export default defineTeam("talking", {
  model: "simulated",
  phases: [
    phase("text", {
      personas: [
        persona("writer", {
          instructions: "Write a page about the facts.",
          maxAttempts: 2,
          contract: {
            deliverables: [{ name: "page", files: ["page.md"] }],
            checks: [{ name: "judge", run: ["sh", "-c", "seq 1 250; echo '<b>the last line</b>'; exit 1"] }],
          },
        }),
      ],
    }),
  ],
});
