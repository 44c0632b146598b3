// Records steps, each noted in a side file when it runs, and kills itself inside the next one. Started again with the
// same key, it reports when that step began. Steps have different names, or one name ("same"), or one name and an input
// that differs after the crash ("changed": all run again, and the first is timed). Plain JavaScript with the compile
// cache, as in first-step.mjs.
import { appendFileSync } from "node:fs";
import { enableCompileCache } from "node:module";

enableCompileCache(new URL("../.data/compiled", import.meta.url).pathname);
const { defineTeam, open, persona, phase } = await import("../../dist/index.js");

const [, , stateDir, sideFile, mode, steps, shape] = process.argv;
const last = Number(steps);
const answer = "x".repeat(1_000);
let reachedAt = 0;
const worker = persona("worker", {
  run: async (ctx) => {
    for (let index = 0; index <= last; index += 1) {
      const effect = () => {
        if (reachedAt === 0 && (index === last || shape === "changed")) reachedAt = Date.now();
        appendFileSync(sideFile, `${index}\n`);
        if (mode === "crash" && index === last) process.kill(process.pid, "SIGKILL");
        return `${index} ${answer}`;
      };
      if (shape === "named") await ctx.step(`step-${index}`, effect);
      else if (shape === "same") await ctx.step("fetch", effect);
      else await ctx.step("fetch", effect, { input: [index, mode] });
    }
    return { summary: "done" };
  },
});
const team = defineTeam("crash", { phases: [phase("work", { personas: [worker] })] });
const maestro = await open({ stateDir });
await (await maestro.start(team, { brief: "crash", key: "crash" })).result();
await maestro.close();
process.stdout.write(JSON.stringify({ reachedAt }));
