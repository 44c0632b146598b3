import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineTeam, open, persona, phase } from "maestro-hive";

const ran: string[] = [];
const writes = (name: string, consumes?: readonly string[]) =>
  persona(name, {
    ...(consumes && { consumes }),
    run: async ({ workspace, context }) => {
      ran.push(name);
      await workspace.write(`${name}.md`, JSON.stringify(context.results));
      return { summary: name, outputs: { by: name } };
    },
  });

/** Changes one requirement of a completed session: only the personas that consume it run again, the rest is reused. */
const team = defineTeam("shop", {
  phases: [
    phase("requirements", { personas: [writes("api_analyst"), writes("page_analyst")] }),
    phase("build", {
      personas: [writes("backend", ["api_analyst"]), writes("frontend", ["page_analyst"])],
    }),
  ],
});

const stateDir = await mkdtemp(join(tmpdir(), "maestro-example-"));
const maestro = await open({ stateDir });
const session = await maestro.start(team, { brief: "A shop" });
await session.result();
console.log(`first: ${ran.splice(0).toSorted().join(", ")}`);
const change = {
  at: "build",
  edits: { requirements: { outputs: { api_analyst: { by: "a person" } } } },
};
const { personas } = await maestro.planFork(session.id, change);
console.log(`plan: ${personas.map(({ persona, action }) => `${persona} ${action}`).join(", ")}`);
const fork = await maestro.fork(session.id, change);
await maestro.executeBatch(fork.id);
console.log(`fork: ${ran.join(", ")}`);
await maestro.close();
