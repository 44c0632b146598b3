import { existsSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { defineTeam, type PersonaContext, persona, phase } from "../../../../src/index.ts";

/**
 * The brief names a folder. Each step appends a line to its `effects.txt`, which shows a step that ran twice. "build 3"
 * waits for a file `go`, so that a test can inspect or kill the run.
 */
const step = ({ brief, step, signal }: PersonaContext, name: string): Promise<string> =>
  step(name, async () => {
    if (name === "build 3") await untilThere(join(brief, "go"), signal);
    await appendFile(join(brief, "effects.txt"), `${name}\n`);
    return `${name} is done`;
  });

async function untilThere(file: string, signal: AbortSignal): Promise<void> {
  while (!existsSync(file)) await sleep(50, undefined, { signal });
}

export default defineTeam("parking", {
  phases: [
    phase("requirements", {
      personas: [
        persona("analyst", {
          contract: { deliverables: [{ name: "requirements", files: ["docs/*.md"] }] },
          run: async (context) => {
            await step(context, "ask");
            await context.workspace.write("docs/requirements.md", "1. Fees are in euros\n");
            return {
              summary: "one requirement",
              decisions: [
                {
                  title: "Money",
                  choice: "Fees are in euros",
                  reason: "the city has no other money",
                  rejected: [],
                },
              ],
            };
          },
        }),
      ],
    }),
    phase("build", {
      personas: [
        persona("developer", {
          run: async (context) => {
            for (const number of [1, 2, 3, 4, 5]) await step(context, `build ${number}`);
            const wanted = await context.workspace.readText("docs/requirements.md");
            await context.workspace.write("src/fees.ts", `// ${wanted}export const fee = 2;\n`);
            return { summary: "fees are charged", outputs: { files: 1 } };
          },
        }),
      ],
    }),
    phase("release", {
      personas: [
        persona("releaser", {
          run: async (context) => {
            await step(context, "release");
            await context.workspace.write("RELEASE.md", "Fees\n");
            return { summary: "released" };
          },
        }),
      ],
    }),
  ],
});
