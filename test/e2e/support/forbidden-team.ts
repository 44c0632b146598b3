import { defineTeam, GovernanceViolation, persona, phase } from "../../../src/index.ts";

/** What it does is against the rules, and no second try makes it right. */
export default defineTeam("forbidden", {
  phases: [
    phase("only", {
      personas: [
        persona("worker", {
          run: () => {
            throw new GovernanceViolation("It wrote where it may not.");
          },
        }),
      ],
    }),
  ],
});
