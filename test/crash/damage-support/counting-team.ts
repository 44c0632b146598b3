import { appendFileSync } from "node:fs";
import { setTimeout as pass } from "node:timers/promises";
import { defineTeam, persona, phase } from "maestro-hive";

/**
 * A hundred steps of a few milliseconds, then, unless the brief ends in "fast", a step that waits until it is aborted; if
 * the brief ends in "deaf", it ignores that. The brief is the beginning of the paths of two files: a line for each effect,
 * and a line for each acknowledged step.
 */
export default defineTeam("counting", {
  phases: [
    phase("count", {
      personas: [
        persona("counter", {
          run: async ({ step, brief, signal }) => {
            for (let number = 1; number <= 100; number += 1) {
              await step(`step ${number}`, async () => {
                appendFileSync(`${brief}.effects`, `${number}\n`);
                await pass(brief.endsWith("fast") ? 20 : 2);
              });
              appendFileSync(`${brief}.acknowledged`, `${number}\n`);
            }
            if (!brief.endsWith("fast"))
              await step("long call", async () => {
                appendFileSync(`${brief}.effects`, "long\n");
                await pass(600_000, undefined, brief.endsWith("deaf") ? {} : { signal });
              });
            return { summary: "counted" };
          },
        }),
      ],
    }),
  ],
});
