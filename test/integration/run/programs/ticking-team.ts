import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { defineTeam, persona, phase } from "../../../../src/index.ts";

/** Leaves a line `<tick> <process>` in the file that the brief names for each step, until `<file>.go` exists. */
export default defineTeam("ticking", {
  phases: [
    phase("only", {
      personas: [
        persona("worker", {
          run: async ({ brief, step }) => {
            for (let tick = 1, isOver = false; !isOver; tick += 1)
              isOver = await step(`tick ${tick}`, async () => {
                appendFileSync(brief, `${tick} ${process.pid}\n`);
                await delay(20);
                return existsSync(`${brief}.go`);
              });
            return { summary: "done" };
          },
        }),
      ],
    }),
  ],
});
