// One session of many phases with ten personas each, all functions: processor time and memory.
import { report } from "../child.ts";
import { DiskLimit } from "../limit.ts";
import { defineTeam, open, persona, phase } from "../maestro.ts";
import type { BigTeam } from "../measure-big-team.ts";
import { peakMemoryMegabytes } from "../resources.ts";

const [stateDir = "", limitDir = "", phases = "100"] = process.argv.slice(2);
const personasPerPhase = 10;

const limit = new DiskLimit(limitDir).measure(50);
const before = process.cpuUsage();
const team = defineTeam("big", {
  phases: Array.from({ length: Number(phases) }, (_, index) =>
    phase(`phase-${index}`, {
      personas: Array.from({ length: personasPerPhase }, (__, place) =>
        persona(`worker-${index}-${place}`, {
          run: async () => ({ summary: "done", outputs: { index, place } }),
        }),
      ),
    }),
  ),
});
const maestro = await open({ stateDir });
const { status } = await (await maestro.start(team, { brief: "a very large undertaking" })).result();
await maestro.close();
const { user, system } = process.cpuUsage(before);
report({
  status,
  cpuMs: (user + system) / 1_000,
  megabytes: peakMemoryMegabytes(),
  limit,
} satisfies BigTeam);
