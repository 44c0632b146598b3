import { defineTeam, persona, phase } from "maestro-hive";

/** The smallest team: one persona, two durable steps. Kill it between them and resume: the first step does not run again. */
export default defineTeam("hello", {
  phases: [
    phase("greeting", {
      personas: [
        persona("greeter", {
          run: async (context) => {
            const words = await context.step("count the words", () => context.brief.split(/\s+/).length);
            await context.sleep(2_000);
            const greeting = await context.step("greet", () => `Hello, you said ${words} words.`);
            return { summary: greeting, outputs: { words } };
          },
        }),
      ],
    }),
  ],
});
