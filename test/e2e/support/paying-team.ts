import { appendFileSync, existsSync } from "node:fs";
import { defineTeam, persona, phase } from "../../../src/index.ts";

/** The brief is the side file. The first process dies right after the effect. */
export default defineTeam("paying", {
  phases: [
    phase("pay", {
      personas: [
        persona("payer", {
          run: async ({ step, brief }) => {
            const receipt = await step<unknown>(
              "charge",
              () => {
                const isFirst = !existsSync(brief);
                appendFileSync(brief, "charged\n");
                if (isFirst) process.kill(process.pid, "SIGKILL");
                return isFirst ? new Promise(() => undefined) : { receipt: 8 };
              },
              { effect: "once" },
            );
            return { summary: JSON.stringify(receipt) };
          },
        }),
      ],
    }),
  ],
});
