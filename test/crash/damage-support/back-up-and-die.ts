import { BackedUp, copyDatabase } from "./backed-up.ts";

/** A program that runs the session to a phase, copies its database on the way, and is killed with its lease. */
const [stateDir = "", backup = "", until = ""] = process.argv.slice(2);
const session = new BackedUp(stateDir);
session.onMiddle = () => copyDatabase(stateDir, backup);
await session.with(async (maestro) => {
  const started = await maestro.start(session.team, { brief: "Build it.", key: "k", until });
  const { id, status } = await started.result();
  const { total } = await maestro.usage({ by: "session", session: id });
  process.stdout.write(JSON.stringify({ id, status, total }), () => process.kill(process.pid, "SIGKILL"));
  await new Promise(() => {});
});
