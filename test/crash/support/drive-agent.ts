import { defineTeam, open, persona, phase } from "./package.ts";

/** A process whose persona is a command-line agent. */
export interface DriveAgentOptions {
  readonly stateDir: string;
  readonly argv: readonly string[];
  /** The log of the agent. */
  readonly shared: string;
}

const { stateDir, argv, shared } = JSON.parse(process.argv[2] ?? "") as DriveAgentOptions;
const agent = persona("agent", {
  instructions: "Write four parts.",
  command: argv,
  env: ["AGENT_SHARED"],
  writable: [shared],
  reserve: { tokens: 5000, usd: 1 },
});
const team = defineTeam("agents", { phases: [phase("only", { personas: [agent] })] });

const maestro = await open({ stateDir, teams: [team] });
const session = await maestro.start(team, { brief: "Anything.", key: "agents" });
const { id, ...ending } = await session.result();
const { usage, artifacts } = await maestro.show(id);
const contents = await Promise.all(
  artifacts.map(async ({ path, sha256 }) => [path, (await maestro.artifact(id, sha256)).toString()]),
);
console.log(JSON.stringify({ id, ending, usage, files: Object.fromEntries(contents) }));
await maestro.close();
