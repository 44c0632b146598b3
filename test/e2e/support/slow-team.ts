import { existsSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { defineTeam, persona, phase } from "../../../src/index.ts";

/**
 * Six steps of 200 ms; the brief names a file that gets a line for each effect that runs. While there is a file of that name
 * with `.hold`, only first steps end.
 */
export default defineTeam("slow", {
  phases: ["first", "second"].map((name) =>
    phase(name, {
      personas: [
        persona("worker", {
          run: async (context) => {
            for (const step of [1, 2, 3]) {
              await context.step(`step ${step}`, async () => {
                const hold = `${context.brief}${step > 1 ? ".hold" : ".none"}`;
                do await delay(200);
                while (existsSync(hold));
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
