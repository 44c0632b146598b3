import { appendFile, readFile } from "node:fs/promises";
import { defineTeam, persona, phase } from "../../../../src/index.ts";

/** The first run writes a line to the file, then ignores every signal for ever. */
async function hangOnce(file: string): Promise<void> {
  const before = await readFile(file, "utf8").catch(() => "");
  await appendFile(file, "here\n");
  // The timer keeps the process alive by itself, as a forgotten connection would.
  if (before === "") await new Promise(() => setInterval(() => undefined, 1_000));
}

/** `<file> <where>`: hangs in the middle, "in" a step or "between" steps, and hears no signal. */
export default defineTeam("deaf", {
  phases: [
    phase("only", {
      personas: [
        persona("worker", {
          run: async ({ brief, step }) => {
            const [file = "", where] = brief.split(" ");
            await step("before", () => appendFile(`${file}.steps`, "before\n"));
            if (where === "between") await hangOnce(file);
            await step("after", async () => {
              if (where === "in") await hangOnce(file);
              await appendFile(`${file}.steps`, "after\n");
            });
            return { summary: "done" };
          },
        }),
      ],
    }),
  ],
});
