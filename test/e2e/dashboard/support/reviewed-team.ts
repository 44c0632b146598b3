import { defineTeam, persona, phase } from "../../../../src/index.ts";

/** The design is reviewed before the build. The build records the design it was built from. */
export default defineTeam("reviewed", {
  phases: [
    phase("design", {
      review: true,
      personas: [
        persona("architect", {
          run: async ({ workspace }) => {
            await workspace.write("docs/design.md", "# Design\n\nFive services.\n");
            return { summary: "five services", outputs: { services: 5 } };
          },
        }),
      ],
    }),
    phase("build", {
      personas: [
        persona("developer", {
          run: async ({ workspace }) => {
            await workspace.write("BUILT.md", `Built from:\n${await workspace.readText("docs/design.md")}`);
            return { summary: "built" };
          },
        }),
      ],
    }),
  ],
});
