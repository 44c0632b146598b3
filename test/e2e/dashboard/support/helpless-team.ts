import { existsSync } from "node:fs";
import { join } from "node:path";
import { defineTeam, HelpNeeded, persona, phase } from "../../../../src/index.ts";

/** The brief is a folder. Without a file `prices.csv` in it the work cannot go on, and only a person can bring it. */
export default defineTeam("helpless", {
  phases: [
    phase("plan", { personas: [persona("planner", { run: () => ({ summary: "import the prices" }) })] }),
    phase("import", {
      personas: [
        persona("importer", {
          run: ({ brief }) => {
            if (existsSync(join(brief, "prices.csv"))) return { summary: "imported" };
            throw new HelpNeeded("The city's price list is missing.", {
              advice: "Put prices.csv into the folder of the brief, then resume.",
            });
          },
        }),
      ],
    }),
  ],
});
