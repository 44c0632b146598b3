import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineTeam, open, persona, phase } from "maestro-hive";

const writes = (name: string) =>
  persona(name, {
    run: async ({ workspace, context }) => {
      await workspace.write(`${name}.md`, `# ${name}\n`);
      return { summary: `${name} after ${Object.keys(context.results).join(", ") || "nothing"}` };
    },
  });

/** Phases as nodes of a graph. An external orchestrator can call them one by one, as often as it likes. */
const team = defineTeam("graph", {
  phases: [
    phase("requirements", { personas: [writes("analyst")] }),
    phase("backend", { dependsOn: ["requirements"], personas: [writes("backend_developer")] }),
    phase("frontend", { dependsOn: ["requirements"], personas: [writes("frontend_developer")] }),
    phase("testing", { dependsOn: ["backend", "frontend"], personas: [writes("tester")] }),
  ],
});

const stateDir = await mkdtemp(join(tmpdir(), "maestro-example-"));
const maestro = await open({ stateDir });
const { id } = await maestro.create(team, { brief: "A parking app for one city" });
for (const name of ["requirements", "frontend", "backend", "backend", "testing"]) {
  const { status, results } = await maestro.executePhase(id, name);
  console.log(`${name}: ${Object.values(results[name] ?? {})[0]?.summary} (session ${status})`);
}
await maestro.close();
