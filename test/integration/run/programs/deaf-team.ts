import { writeFileSync } from "node:fs";
import { defineTeam, persona, phase } from "../../../../src/index.ts";

/** Notes its process in the file that the brief names, and then hears no signal. */
export default defineTeam("deaf", {
  phases: [
    phase("only", {
      personas: [
        persona("worker", {
          run: async ({ brief, step }) => {
            await step("note", () => writeFileSync(brief, String(process.pid)));
            return new Promise(() => setInterval(() => undefined, 1_000));
          },
        }),
      ],
    }),
  ],
});
