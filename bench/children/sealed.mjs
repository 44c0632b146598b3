// `write`: a session whose first phase records many steps and is sealed; its second phase dies in its first step.
// `resume`: the time until the second phase runs its first step.
import { writeSync } from "node:fs";
import { enableCompileCache } from "node:module";

enableCompileCache(new URL("../.data/compiled", import.meta.url).pathname);
const { defineTeam, open, persona, phase } = await import("../../dist/index.js");

const [stateDir, mode, count] = process.argv.slice(2);
const atOnce = 500;

const past = persona("past", {
  run: async (ctx) => {
    for (let from = 0; from < Number(count); from += atOnce) {
      const batch = Array.from(
        { length: Math.min(atOnce, Number(count) - from) },
        (_, place) => from + place,
      );
      await Promise.all(batch.map((number) => ctx.step(`step ${number}`, () => number)));
    }
    return { summary: "recorded" };
  },
});
const present = persona("present", {
  run: async (ctx) => {
    await ctx.step("first", () => {
      if (mode === "resume") writeSync(1, JSON.stringify({ reachedAt: Date.now() }));
      process.kill(process.pid, "SIGKILL");
    });
    return { summary: "reached" };
  },
});
const team = defineTeam("sealed", {
  phases: [phase("past", { personas: [past] }), phase("present", { personas: [present] })],
});

const maestro = await open({ stateDir, teams: [team] });
await (await maestro.start(team, { brief: "resume behind sealed phases", key: "sealed" })).result();
await maestro.close();
