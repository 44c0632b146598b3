import { appendFileSync, existsSync } from "node:fs";
import { defineTeam, persona, phase } from "../../../../src/index.ts";

/** The brief is the side file. The first process that runs the effect dies in it. */
export default defineTeam("mortal", {
  phases: [
    phase("work", {
      personas: [
        persona("payer", {
          run: async ({ step, brief }) => {
            const paid = await step(
              "pay",
              () => {
                const isFirst = !existsSync(brief);
                appendFileSync(brief, "paid\n");
                if (isFirst) process.exit(3);
                return "receipt 2";
              },
              {
                effect: "once",
                probe: () =>
                  existsSync(`${brief}.ledger`) ? { happened: true, result: "receipt 1" } : undefined,
              },
            );
            return { summary: paid };
          },
        }),
      ],
    }),
  ],
});
