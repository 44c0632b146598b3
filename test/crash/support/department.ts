import type { PersonaContext, Team } from "../../../src/index.ts";
import { author, everything, writes } from "./file-work.ts";
import { defineTeam, phase } from "./package.ts";
import { type Step, type World, worker } from "./worker.ts";

/** Twelve personas in five phases, with groups, a merge conflict, branches that join, and edits of other personas' files. */
export const department = (world: World): Team =>
  defineTeam("department", {
    phases: [
      phase("requirements", {
        personas: [
          worker("analyst", world, async (context, step) => {
            await writes(step, context, "docs/needs.md", "# Needs\n\nfirst\nsecond\n");
          }),
          author("researcher", world, "docs/market.md"),
        ],
      }),
      phase("design", {
        personas: [
          worker(
            "architect",
            world,
            async (context, step) => {
              await writes(step, context, "docs/design.md", await everything(context));
              await context.workspace.edit("docs/needs.md", [
                { find: "second\n", replace: "second\nthird\n" },
              ]);
            },
            { consumes: ["analyst"] },
          ),
          author("modeler", world, "docs/data.md", ["analyst", "architect"]),
          author("skeptic", world, "docs/risks.md"),
        ],
      }),
      phase("build", {
        dependsOn: ["design"],
        personas: [
          worker("backend", world, adds("src/routes.txt", "backend"), {
            consumes: ["architect", "modeler"],
          }),
          worker("frontend", world, adds("src/routes.txt", "frontend"), { consumes: ["architect"] }),
          author("database", world, "src/tables.sql", ["modeler"]),
          author("integrator", world, "src/main.txt", ["backend", "frontend", "database"]),
        ],
      }),
      phase("manual", {
        dependsOn: ["design"],
        personas: [
          author("writer", world, "manual/guide.md"),
          worker(
            "editor",
            world,
            async (context, step) => {
              await writes(step, context, "manual/guide.md", `${await everything(context)}(edited)\n`);
            },
            { consumes: ["writer"] },
          ),
        ],
      }),
      phase("testing", {
        dependsOn: ["build", "manual"],
        personas: [
          worker("tester", world, async (context, step) => {
            await writes(step, context, "test/report.md", await everything(context));
          }),
        ],
      }),
    ],
  });

/** A persona's own line in a file that others write too. */
function adds(path: string, line: string) {
  return async (context: PersonaContext, step: Step): Promise<void> => {
    const { workspace } = context;
    await step("look", () => everything(context));
    const before = workspace.list(path).length === 0 ? "" : await workspace.readText(path);
    await writes(step, context, path, `${before}${line}\n`);
  };
}
