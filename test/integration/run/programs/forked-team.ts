import { defineTeam, persona, phase } from "../../../../src/index.ts";
import { answer, ask, ownModel } from "../own-models.ts";

/** The second phase reads the first, and makes the same paid call whatever that says. */
export default defineTeam("forked", {
  phases: [
    phase("first", { personas: [persona("opener", { run: async () => ({ summary: "done" }) })] }),
    phase("second", {
      personas: [
        persona("worker", {
          run: async (context) => {
            await ask(
              ownModel(async () => answer(6_000, 5)),
              context,
              "the same",
            );
            return { summary: "done", outputs: { pid: process.pid } };
          },
        }),
      ],
    }),
  ],
});
