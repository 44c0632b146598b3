import { defineTeam, persona, phase } from "../../../../src/index.ts";

/** Its only effect fails after it may have happened. */
export default defineTeam("unsure", {
  phases: [
    phase("pay", {
      personas: [
        persona("payer", {
          run: async ({ step }) => {
            const receipt = await step(
              "charge",
              (): string => {
                throw new Error("The bank hung up.");
              },
              { effect: "once" },
            );
            return { summary: `receipt ${receipt}` };
          },
        }),
      ],
    }),
  ],
});
