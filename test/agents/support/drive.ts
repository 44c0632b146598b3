import type { PersonaOptions } from "../../../src/index.ts";
import { defineTeam, open, persona, phase } from "../../crash/support/package.ts";

/** A process that drives one session whose only persona is this agent. */
export interface DriveOptions {
  readonly stateDir: string;
  readonly persona: PersonaOptions;
}

const { stateDir, persona: options } = JSON.parse(process.argv[2] ?? "") as DriveOptions;
const team = defineTeam("agents", { phases: [phase("only", { personas: [persona("agent", options)] })] });
const maestro = await open({ stateDir, teams: [team] });
const session = await maestro.start(team, { brief: "Write the parts.", key: "agents" });
const ending = await session.result();
const { usage, artifacts, phases } = await maestro.show(ending.id);
const contents = await Promise.all(
  artifacts.map(async ({ path, sha256 }) => [path, (await maestro.artifact(ending.id, sha256)).toString()]),
);
console.log(JSON.stringify({ ending, usage, phases, files: Object.fromEntries(contents) }));
await maestro.close();
