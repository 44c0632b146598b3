import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineTeam, open, persona, phase } from "maestro-hive";

/** Two personas work in parallel, each on its own copy of the files; a third consumes both results. */
const team = defineTeam("design", {
  phases: [
    phase("design", {
      personas: [
        persona("architect", {
          run: async ({ workspace }) => {
            await workspace.write("design/parts.md", "# Parts\n\n- api\n- page\n");
            return { summary: "two parts", outputs: { parts: ["api", "page"] } };
          },
        }),
        persona("skeptic", {
          run: async ({ workspace }) => {
            await workspace.write("design/risks.md", "# Risks\n\n- no users\n");
            return { summary: "one risk" };
          },
        }),
        persona("editor", {
          consumes: ["architect", "skeptic"],
          run: async ({ workspace, context }) => {
            const texts = await Promise.all(
              workspace.list("design/*.md").map((path) => workspace.readText(path)),
            );
            await workspace.write("design.md", texts.join("\n"));
            const before = Object.values(context.results["design"] ?? {}).map(({ summary }) => summary);
            return { summary: `one document from ${before.join(" and ")}` };
          },
        }),
      ],
    }),
  ],
});

const stateDir = await mkdtemp(join(tmpdir(), "maestro-example-"));
const maestro = await open({ stateDir });
const session = await maestro.start(team, { brief: "A parking app for one city" });
const { status, results } = await session.result();
const { artifacts } = await maestro.show(session.id);
console.log(`${status}: ${results["design"]?.["editor"]?.summary}`);
console.log(artifacts.map(({ path, persona }) => `${path} by ${persona}`).join("\n"));
await maestro.close();
