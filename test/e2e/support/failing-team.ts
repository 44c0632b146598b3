import { defineTeam, persona, phase } from "../../../src/index.ts";

export default defineTeam("failing", {
  phases: [
    phase("only", {
      personas: [
        persona("worker", {
          run: () => {
            throw new Error("the \u001b[31manswer\u001b[0m is wrong");
          },
        }),
      ],
    }),
  ],
});
