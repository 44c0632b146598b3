import { defineTeam, persona, phase } from "../../../src/index.ts";

/** Its developer writes a file that its policy does not allow. */
export default defineTeam("tiles", {
  phases: [
    phase("requirements", {
      personas: [
        persona("requirement_analyst", {
          run: async ({ workspace }) => {
            await workspace.write("docs/requirements.md", "# Tiles\n");
            return { summary: "tiles at the edge" };
          },
        }),
      ],
    }),
    phase("design", {
      personas: [persona("solution_architect", { run: () => ({ summary: "one cache a region" }) })],
    }),
    phase("implementation", {
      personas: [
        persona("backend_developer", {
          policy: { write: ["src/**"] },
          run: async ({ workspace }) => {
            await workspace.write("src/cache.ts", "export const cache = new Map();\n");
            await workspace.write("deploy/secrets.env", "TOKEN=\n");
            return { summary: "a cache" };
          },
        }),
      ],
    }),
    phase("testing", { personas: [persona("qa_engineer", { run: () => ({ summary: "tested" }) })] }),
  ],
});
