import { appendFile } from "node:fs/promises";
import { defineTeam, persona, phase } from "../../../src/index.ts";

/** Six steps of a fifth of a second; the brief is a file that gets a line for each one that really runs. */
export default defineTeam("slow", {
  phases: ["first", "second"].map((name) =>
    phase(name, {
      personas: [
        persona("worker", {
          run: async (context) => {
            for (const step of [1, 2, 3]) {
              await context.step(`step ${step}`, async () => {
                await new Promise((resolve) => setTimeout(resolve, 200));
                await appendFile(context.brief, `${name} ${step}\n`);
              });
            }
            return { summary: `${name} done` };
          },
        }),
      ],
    }),
  ),
});
