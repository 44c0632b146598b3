// Sessions that all wait for a model, each in a call of its own.
import { report } from "../child.ts";
import { defineTeam, durableModel, persona, phase } from "../maestro.ts";
import { peakMemoryMegabytes } from "../resources.ts";
import { openState } from "../workload.ts";

const [stateDir = "", count = "10000"] = process.argv.slice(2);
const sessions = Number(count);
let asked = 0;
const model = {
  specificationVersion: "v4",
  provider: "bench",
  modelId: "never-answers",
  supportedUrls: {},
  doGenerate: () => {
    asked += 1;
    if (asked === sessions) {
      report({ peakMegabytes: peakMemoryMegabytes() });
      process.exit(0);
    }
    return new Promise<never>(() => {});
  },
  doStream: () => Promise.reject(new Error("streaming is not used here")),
} as const;
const worker = persona("worker", {
  run: async (ctx) => {
    const text = `Say something about ${ctx.context.sessionId}.`;
    await durableModel(model, ctx).doGenerate({
      prompt: [{ role: "user", content: [{ type: "text", text }] }],
    });
    return { summary: "done" };
  },
});
const team = defineTeam("waiting", { phases: [phase("work", { personas: [worker] })] });

const maestro = await openState(stateDir, team);
const created = await Promise.all(
  Array.from({ length: sessions }, () => maestro.create(team, { brief: "wait" })),
);
await Promise.all(created.map(async ({ id }) => (await maestro.resume(id)).result()));
