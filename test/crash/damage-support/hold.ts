import { ThreePhases } from "./three-phases.ts";

/** A program that drives the session, stays in its first step and reports that. It ends with its standard input. */
const session = new ThreePhases(process.argv[2] ?? "");
const { promise, resolve } = Promise.withResolvers<void>();
session.held = promise;
process.stdin.on("end", resolve).resume();
await session.with(
  async (maestro) => {
    const started = await maestro.start(session.team, { brief: "Build it.", key: "k" });
    await started.result();
  },
  {
    onEvent: (event) => {
      if (event.kind === "attempt.started") process.stdout.write(event.sessionId);
    },
  },
);
