import { existsSync } from "node:fs";
import { join } from "node:path";
import { defineTeam, HelpNeeded, persona, phase } from "../../../../src/index.ts";

/** The brief names a folder. The importer needs help until the folder has a file `prices.csv`. */
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
