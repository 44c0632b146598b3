import { defineTeam, open, persona, phase } from "../../../src/index.ts";
import type { McpDefinition } from "../../../src/team/definition/mcp-keys.ts";

// One life of a session that calls servers: it says each recorded step, and may be killed at any of them.
const [stateDir = "", script = "", servers = ""] = process.argv.slice(2);
const mcp = JSON.parse(servers) as McpDefinition;
const tools = Object.keys(mcp).map((name) => `${name}/*` as const);

const team = defineTeam("called", {
  model: "simulated",
  mcp,
  phases: [phase("work", { personas: [persona("dev", { instructions: "Call.", tools })] })],
});

const maestro = await open({
  stateDir,
  script,
  teams: [team],
  onEvent: (event) => {
    if (event.kind === "step") process.stdout.write(`${event.name}\n`);
  },
});
const session = await maestro.start(team, { brief: "x", key: "k" });
const { status } = await session.result();
process.stdout.write(`${status}\n`);
await maestro.close();
