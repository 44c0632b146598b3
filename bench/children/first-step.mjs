// Opens a state directory, starts a session and reports when its first step began. Plain JavaScript, so that stripping
// types from this file is not timed; with the compile cache, as the command has it.
import { enableCompileCache } from "node:module";

enableCompileCache(new URL("../.data/compiled", import.meta.url).pathname);
const { defineTeam, open, persona, phase } = await import("../../dist/index.js");

const [, , stateDir] = process.argv;
let startedAt = 0;
const worker = persona("worker", {
  run: async (ctx) => {
    await ctx.step("first", () => {
      startedAt = Date.now();
      return "done";
    });
    return { summary: "done" };
  },
});
const team = defineTeam("start", { phases: [phase("work", { personas: [worker] })] });
const maestro = await open({ stateDir });
await (await maestro.start(team, { brief: "start" })).result();
await maestro.close();
process.stdout.write(JSON.stringify({ startedAt }));
