import { defineTeam, persona, phase } from "../../../../src/index.ts";

const lines = (count: number): string =>
  Array.from({ length: count }, (_, index) => `line ${index} of many`).join("\n");

/** A review of many lines, of a file too large to compare, and of one very long line. */
export default defineTeam("large", {
  phases: [
    phase("design", {
      review: true,
      personas: [
        persona("architect", {
          run: async ({ workspace }) => {
            await workspace.write("a-long.txt", lines(20_000));
            await workspace.write("b-huge.txt", lines(100_000));
            return { summary: "x".repeat(3_000), outputs: { line: "y".repeat(3_000) } };
          },
        }),
      ],
    }),
    phase("build", { personas: [persona("developer", { run: () => ({ summary: "built" }) })] }),
  ],
});
