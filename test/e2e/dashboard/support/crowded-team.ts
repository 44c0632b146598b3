import { defineTeam, HelpNeeded, persona, phase } from "../../../../src/index.ts";

/** Ten of twelve personas ask for help, each for another reason. */
export default defineTeam("crowded", {
  phases: [
    phase("all", {
      personas: Array.from({ length: 12 }, (_, index) =>
        persona(`worker_${index}`, {
          run: () => {
            if (index < 2) return { summary: "done" };
            throw new HelpNeeded(`Key number ${index} is missing.`, { advice: `Bring key ${index}.` });
          },
        }),
      ),
    }),
  ],
});
