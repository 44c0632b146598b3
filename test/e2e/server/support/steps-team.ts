import { appendFile } from "node:fs/promises";
import { defineTeam, persona, phase } from "../../../../src/index.ts";

/** `<file> <count> <ms>`: as many steps, each of which takes so long and leaves a line in the file. */
function run(name: string) {
  return persona("worker", {
    run: async ({ brief, step }) => {
      const [file = "", count = "1", ms = "0"] = brief.split(" ");
      for (let number = 0; number < Number(count); number += 1) {
        await step(`${name} ${number}`, async () => {
          if (ms !== "0") await new Promise((resolve) => setTimeout(resolve, Number(ms)));
          if (file !== "-") await appendFile(file, `${name} ${number}\n`);
          return "x".repeat(200);
        });
      }
      return { summary: `${count} steps` };
    },
  });
}

export default defineTeam("steps", {
  phases: [phase("first", { personas: [run("first")] }), phase("second", { personas: [run("second")] })],
});
