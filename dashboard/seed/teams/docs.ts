import { defineTeam, persona, phase } from "../../../src/index.ts";
import { ask, atOnce, type Pace, secondMs, tell } from "../work.ts";

const screens = (currency: string): string =>
  `# Screens\n\n1. Plate\n2. Price in ${currency}\n3. Card\n${Array.from({ length: 30 }, (_, index) => `- line ${index}\n`).join("")}4. Receipt\n`;

const tariffs = Array.from(
  { length: 30_000 },
  (_, index) => `${String(index).padStart(6, "0")},zone-${index % 40},EUR`,
).join("\n");

/** Collects, drafts and publishes texts. The last phase writes for as long as the server runs. */
export const docsTeam = (pace: Pace) =>
  defineTeam("docs", {
    budget: { usd: 5 },
    phases: [
      phase("collect", {
        gate: 0.75,
        personas: [
          persona("researcher", {
            contract: { deliverables: ["docs/*.md"] },
            run: async (context) => {
              await ask(context, pace, "I collect what is there.", { input: 40_000, output: 5_000 });
              await context.workspace.write("docs/screens.md", screens("€"));
              await context.workspace.write("docs/notes.md", "# Notes\n\nFrom the merged changes.\n");
              await context.workspace.write(
                "docs/zones.png",
                new Uint8Array([137, 80, 78, 71, 0, 1, 2, 255]),
              );
              await context.workspace.write("docs/tariffs.csv", tariffs);
              return { summary: "4 documents" };
            },
          }),
        ],
      }),
      phase("draft", {
        gate: 0.8,
        personas: [
          persona("technical_writer", {
            contract: {
              deliverables: [{ name: "screens", files: ["docs/screens.md"] }],
              outputs: {
                type: "object",
                properties: { screens: { type: "integer" } },
                required: ["screens"],
              },
              checks: [
                { name: "has-title", run: ["grep", "-q", "^# ", "docs/screens.md"], weight: 2 },
                {
                  name: "reading-age",
                  run: ["grep", "-q", "grade 8", "docs/screens.md"],
                  must: false,
                  weight: 0.5,
                },
              ],
            },
            run: async (context) => {
              await ask(context, pace, "Plain words, one idea a screen.", {
                input: 70_000,
                cached: 50_000,
                output: 9_000,
              });
              await context.workspace.write(
                "docs/screens.md",
                screens("EUR").replace("4. Receipt", "4. Receipt by mail"),
              );
              await context.workspace.write(
                "docs/flows.md",
                '# First run\n\n1. The app asks for the plate.\n2. It shows the price.\n\n<script>alert("not run")</script>\n',
              );
              await context.workspace.write("docs/.gitignore", "drafts\n");
              // Another phase delivers it, so it is put back.
              await context.workspace.write("docs/notes.md", "# Notes\n");
              return { summary: "flows and screens", outputs: { screens: 4 } };
            },
          }),
        ],
      }),
      phase("publish", {
        personas: [
          persona("editor", {
            run: async (context) => {
              await context.step("check links", () => pace(20 * secondMs, context.signal));
              await tell(context, "published", "Every screen has one idea, and every sentence one verb. ");
              return { summary: "published" };
            },
          }),
        ],
      }),
    ],
  });

export default docsTeam(atOnce);
