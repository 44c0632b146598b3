import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineTeam, open, persona, phase } from "maestro-hive";

/** One persona with a contract: its first draft has no title, so it is retried with the reason. */
const team = defineTeam("letter", {
  phases: [
    phase("writing", {
      gate: 1,
      personas: [
        persona("writer", {
          contract: {
            deliverables: [{ name: "letter", files: ["letter.md"] }],
            checks: [{ name: "has-title", run: ["grep", "-q", "^# ", "letter.md"] }],
          },
          run: async ({ brief, failures, workspace }) => {
            const title = failures.length === 0 ? "" : "# A letter\n\n";
            await workspace.write("letter.md", `${title}${brief}\n`);
            return { summary: `draft ${failures.length + 1}` };
          },
        }),
      ],
    }),
  ],
});

const stateDir = await mkdtemp(join(tmpdir(), "maestro-example-"));
const maestro = await open({ stateDir, attempts: { baseDelayMs: 10 } });
const session = await maestro.start(team, { brief: "Dear reader, ..." });
const { status, results } = await session.result();
const { phases } = await maestro.show(session.id);
console.log(`${status}: ${results["writing"]?.["writer"]?.summary}, gate ${phases[0]?.gate?.verdict}`);
await maestro.close();
