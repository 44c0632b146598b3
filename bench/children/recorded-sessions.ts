// A state directory with this many finished sessions, each with usage.
import { writeManySessions } from "../../test/e2e/server/support/many-sessions.ts";
import { report } from "../child.ts";

const [stateDir = "", sessions = "10000"] = process.argv.slice(2);
await writeManySessions(stateDir, Number(sessions));
report({ sessions: Number(sessions) });
