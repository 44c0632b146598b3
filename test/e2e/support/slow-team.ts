import { appendFile } from "node:fs/promises";
import { defineTeam, persona, phase } from "../../../src/index.ts";

/** Six steps of 200 ms; the brief names a file that gets a line for each effect that runs. */
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
