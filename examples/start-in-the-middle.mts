import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineTeam, open, persona, phase } from "maestro-hive";

const never = async (): Promise<never> => {
  throw new Error("this was done elsewhere");
};

/** Requirements and design exist already; the run starts at development. */
const team = defineTeam("delivery", {
  phases: [
    phase("requirements", { personas: [persona("analyst", { run: never })] }),
    phase("design", { personas: [persona("architect", { run: never })] }),
    phase("development", {
      personas: [
        persona("developer", {
          run: async ({ workspace, context }) => {
            const design = await workspace.readText("docs/design.md");
            const { tables } = context.results["design"]?.["architect"]?.outputs ?? {};
            await workspace.write("schema.sql", `-- ${JSON.stringify(tables)} tables\n`);
            return { summary: `built from ${design.trim()}` };
          },
        }),
      ],
    }),
  ],
});

const stateDir = await mkdtemp(join(tmpdir(), "maestro-example-"));
const maestro = await open({ stateDir });
const session = await maestro.start(team, {
  brief: "A parking app for one city",
  from: "development",
  given: {
    requirements: { files: { "docs/requirements.md": "# Requirements\n" }, origin: "the customer" },
    design: { files: { "docs/design.md": "# Design\n" }, outputs: { tables: 3 }, origin: "another team" },
  },
});
const { status, results } = await session.result();
const { phases } = await maestro.show(session.id);
console.log(`${status}: ${results["development"]?.["developer"]?.summary}`);
console.log(phases.map(({ name, source }) => `${name}: ${source.kind}`).join(", "));
await maestro.close();
