import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineTeam, open, persona, phase } from "maestro-hive";

/** A person reviews the design: rejects it with a note, then approves the next version. */
const team = defineTeam("reviewed", {
  phases: [
    phase("design", {
      review: true,
      personas: [
        persona("architect", {
          run: async ({ notes }) => ({ summary: notes.length === 0 ? "five services" : "one service" }),
        }),
      ],
    }),
    phase("implementation", {
      personas: [
        persona("developer", {
          run: async ({ context }) => ({
            summary: `built ${context.results["design"]?.["architect"]?.summary}`,
          }),
        }),
      ],
    }),
  ],
});

const stateDir = await mkdtemp(join(tmpdir(), "maestro-example-"));
const maestro = await open({ stateDir });
const session = await maestro.start(team, { brief: "A parking app for one city" });
const first = await session.result();
console.log(`${first.status} for ${first.reason}: ${first.results["design"]?.["architect"]?.summary}`);
await maestro.reject(session.id, { note: "Simpler, please." });
const second = await maestro.executeBatch(session.id);
console.log(`${second.status} for ${second.reason}: ${second.results["design"]?.["architect"]?.summary}`);
await maestro.approve(session.id);
const { status, results } = await maestro.executeBatch(session.id);
console.log(`${status}: ${results["implementation"]?.["developer"]?.summary}`);
await maestro.close();
