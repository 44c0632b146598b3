import { defineTeam, open, persona, phase } from "../../../src/index.ts";

// One life of a session that calls a server: it says each recorded step, and may be killed at any of them.
const [stateDir = "", script = "", url = ""] = process.argv.slice(2);

const team = defineTeam("called", {
  model: "simulated",
  mcp: { everything: { url } },
  phases: [phase("work", { personas: [persona("dev", { instructions: "Call.", tools: ["everything/*"] })] })],
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
