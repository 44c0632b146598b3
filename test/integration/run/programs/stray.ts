import { EventEmitter } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { claimStrayError, defineTeam, open, persona, phase } from "../../../../src/index.ts";

// Runs a session that leaves an error beside one that does not, and prints how both ended. Arguments: the state directory,
// the kind of error, and "claims" if the program handles stray errors.
const [stateDir = "", kind = "", claims] = process.argv.slice(2);

const leave: Readonly<Record<string, () => void>> = {
  rejection: () => void Promise.reject(new Error("left behind")),
  timer: () => void setTimeout(() => JSON.parse("{"), 5),
  emitter: () => void setTimeout(() => new EventEmitter().emit("error", new Error("left behind")), 5),
  late: () => void setTimeout(() => void Promise.reject(new Error("left behind")), 100),
};

let calls = 0;
const team = defineTeam("pair", {
  phases: [
    phase("only", {
      personas: [
        persona("worker", {
          run: async ({ brief, step, signal }) => {
            if (brief === "innocent") {
              await step("long call", async () => {
                calls += 1;
                await delay(500);
              });
            } else {
              leave[kind]?.();
              if (kind === "timer" || kind === "emitter") await delay(60_000, undefined, { signal });
            }
            return { summary: "done" };
          },
        }),
      ],
    }),
  ],
});

if (claims === "claims") {
  const hear = (error: unknown) => {
    if (!claimStrayError(error)) throw error;
  };
  process.on("unhandledRejection", hear);
  process.on("uncaughtException", hear);
}
const logged: string[] = [];
const maestro = await open({
  stateDir,
  attempts: { max: 1 },
  rounds: { max: 1 },
  onEvent: (event) => {
    if (event.kind === "log") logged.push(event.message);
  },
});
const sessions = await Promise.all(["innocent", "guilty"].map((brief) => maestro.start(team, { brief })));
const [innocent, guilty] = await Promise.all(sessions.map((session) => session.result()));
const attempts = (await maestro.show(guilty?.id ?? "")).phases[0]?.personas[0]?.attempts;
await maestro.close();
console.log(JSON.stringify({ innocent: innocent?.status, guilty: guilty?.status, attempts, calls, logged }));
