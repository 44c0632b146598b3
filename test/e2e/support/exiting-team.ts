import { existsSync, writeFileSync } from "node:fs";
import { defineTeam, persona, phase } from "../../../src/index.ts";

/** Ends the process of the command with exit code 0, on Ctrl-C or immediately, until the file that the brief names exists. */
export default defineTeam("exiting", {
  phases: [
    phase("only", {
      personas: [
        persona("worker", {
          run: async ({ brief }) => {
            if (existsSync(`${brief}.patient`)) {
              process.on("SIGINT", () => process.exit(0));
              writeFileSync(`${brief}.listening`, "");
              await new Promise(() => setInterval(() => undefined, 1_000));
            }
            if (!existsSync(brief)) process.exit(0);
            return { summary: "done" };
          },
        }),
      ],
    }),
  ],
});
