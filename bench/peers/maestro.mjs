// Maestro for the peers' common workload. HIVE_DIST: address of the built package (dist/index.js).
import { main, step } from "./lib/peer.mjs";

const { defineTeam, open, persona, phase } = await import(process.env.HIVE_DIST);
const creating = [];
let maestro;
let team;

await main({
  name: "maestro-hive",

  async start(dir, steps) {
    const worker = persona("worker", {
      run: async (ctx) => {
        for (let index = 0; index < steps; index += 1) {
          await ctx.step(`s${index}`, () => step(ctx.brief, index));
        }
        return { summary: "done" };
      },
    });
    team = defineTeam("peers", { phases: [phase("work", { personas: [worker] })] });
    maestro = await open({ stateDir: dir });
  },

  // Everything is created first and then driven together, like a peer whose worker starts when all is enqueued.
  async run(id) {
    const created = maestro.create(team, { brief: id, ...(id === "crashwf" && { key: id }) });
    creating.push(created);
    await new Promise(setImmediate);
    await Promise.all(creating);
    await (await maestro.resume((await created).id, { team })).result();
  },

  async resume(key) {
    await (await maestro.resume(key, { team })).result();
  },

  stop: () => maestro.close(),
});
