import { defineTeam, persona, phase } from "../../../../src/index.ts";

const megabytes = (count: number): string => "x".repeat(count * 1_000_000);

/** Makes the server keep as much as the brief says: 1.6 GB in all, or one message of 140 MB. */
export default defineTeam("heavy", {
  phases: [
    phase("only", {
      personas: [
        persona("worker", {
          run: async ({ brief, step, log }) => {
            const each = Array.from({ length: 200 }, (_, index) => `step-${index}`);
            if (brief === "inputs")
              await Promise.all(each.map((name) => step(name, () => 1, { input: megabytes(8) })));
            if (brief === "results") await Promise.all(each.map((name) => step(name, () => megabytes(8))));
            if (brief === "message") log(megabytes(140));
            return { summary: "done" };
          },
        }),
      ],
    }),
  ],
});
