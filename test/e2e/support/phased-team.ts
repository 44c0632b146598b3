import { defineTeam, phase } from "../../../src/index.ts";
import { everything, writes } from "../../crash/support/file-work.ts";
import { type World, worker } from "../../crash/support/worker.ts";

const { PHASED_MARKS: marks = "", PHASED_RUNS: runs = "", PHASED_CATALOG: catalog = "" } = process.env;
const world: World = { marks, runs, door: "", effectMs: 10 };

/** Four phases; the second calls a network service. */
export default defineTeam("phased", {
  phases: [
    phase("requirements", {
      gate: 1,
      personas: [
        worker(
          "analyst",
          world,
          async (context, step) => {
            await step("interview");
            await writes(step, context, "docs/requirements.md", `# Requirements\n\n${context.brief}\n`);
          },
          {
            contract: {
              deliverables: ["docs/requirements.md"],
              checks: [{ name: "has-title", run: ["grep", "-q", "^# ", "docs/requirements.md"] }],
            },
          },
        ),
      ],
    }),
    phase("design", {
      personas: [
        worker("architect", world, async (context, step) => {
          await step("outline");
          const parts = await step("ask the catalog", async () => (await fetch(catalog)).text());
          await writes(step, context, "docs/design.md", `# Design\n\n${parts}\n`);
        }),
      ],
    }),
    phase("implementation", {
      personas: [
        worker(
          "developer",
          world,
          async (context, step) => {
            await writes(step, context, "src/bridge.txt", await everything(context));
            await step("clean up");
          },
          { consumes: ["architect"] },
        ),
      ],
    }),
    phase("testing", {
      personas: [
        worker("tester", world, async (context, step) => {
          await step("read", () => everything(context));
        }),
      ],
    }),
  ],
});
