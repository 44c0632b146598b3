import { defineTeam, persona, phase } from "../../../../src/index.ts";

// No session raises this error.
setTimeout(() => {
  throw new Error("raised by the module itself");
}, 10);

export default defineTeam("restless", {
  phases: [phase("only", { personas: [persona("worker", { run: async () => ({ summary: "done" }) })] })],
});
