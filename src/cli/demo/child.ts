import { open } from "../../index.ts";
import { printJson } from "../output.ts";
import team from "./team.ts";

/** The process that `maestro demo` kills: starts the demo's session, or goes on with it. */
const [project = "", stateDir = "", key = ""] = process.argv.slice(2);
const maestro = await open({ stateDir, onEvent: printJson });
const session = await maestro.start(team, { brief: project, key });
const { status } = await session.result();
await maestro.close();
process.exitCode = status === "completed" ? 0 : 3;
