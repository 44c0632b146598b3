import { ThreePhases } from "./three-phases.ts";

/** A program that starts the session and is killed when it is paused, with its lease and its log left behind. */
const session = new ThreePhases(process.argv[2] ?? "");
await session.with(async (maestro) => {
  const started = await maestro.start(session.team, { brief: "Build it.", key: "k" });
  await started.result();
  process.stdout.write(started.id, () => process.kill(process.pid, "SIGKILL"));
  await new Promise(() => {});
});
