import { defineTeam, persona, phase } from "../../../src/index.ts";

/** Fails twice, then succeeds. */
export default defineTeam("stumbling", {
  phases: [
    phase("only", {
      personas: [
        persona("worker", {
          run: async ({ failures, step }) => {
            const draft = await step("draft", () => `draft ${failures.length + 1}`);
            if (failures.length < 2) throw new Error(`${draft} is not good enough`);
            return { summary: `${draft} is good` };
          },
        }),
      ],
    }),
  ],
});
