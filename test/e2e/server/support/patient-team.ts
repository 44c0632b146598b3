import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { defineTeam, persona, phase } from "../../../../src/index.ts";

/** `<file>`: one call before a long one, which ends when `<file>.go` exists. Each call leaves a line with its process. */
export default defineTeam("patient", {
  phases: [
    phase("only", {
      personas: [
        persona("worker", {
          run: async ({ brief, step, log }) => {
            const call = (name: string) => appendFileSync(brief, `${name} ${process.pid}\n`);
            await step("short call", () => call("short"));
            await step("long call", async () => {
              call("long");
              while (!existsSync(`${brief}.go`)) {
                // Not a lack of progress.
                log("still calling");
                await delay(50);
              }
            });
            return { summary: "done" };
          },
        }),
      ],
    }),
  ],
});
