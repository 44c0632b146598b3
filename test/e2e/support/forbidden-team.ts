import { defineTeam, GovernanceViolation, persona, phase } from "../../../src/index.ts";

/** Violates its policy, so it is never retried. */
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
