import { open } from "../../../src/index.ts";
import { type ArmedFault, armFault } from "../../../src/store/fault-points.ts";
import { smallTeam } from "../../integration/run/planning/small-team.ts";

export interface PlanOptions {
  readonly stateDir: string;
  readonly fault?: ArmedFault;
}

/** A process that starts or resumes a session whose team a model plans, and may be killed. */
const { stateDir, fault } = JSON.parse(process.argv[2] ?? "") as PlanOptions;
armFault(fault);
const maestro = await open({ stateDir });
const team = smallTeam((name) => ({ run: async () => ({ summary: `${name} is done` }) }), {
  planning: "model",
  model: "openai/gpt-5",
});
const session = await maestro.start(team, { brief: "Fix the API of the import job.", key: "planned" });
const { status, results } = await session.result();
console.log(JSON.stringify({ status, results }));
await maestro.close();
