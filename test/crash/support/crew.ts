import { flushCompileCache } from "node:module";
import { setTimeout as pass } from "node:timers/promises";
import { leaveMark } from "./effects.ts";
import { defineTeam, open, persona, phase } from "./package.ts";

/** A process that takes queued sessions until it is ended. */
export interface CrewOptions {
  readonly stateDir: string;
  readonly marks: string;
  /** Sessions of the team that may run at once. */
  readonly limit: number;
  /** The first process queues so many sessions. */
  readonly sessions: number;
}

const { stateDir, marks, limit, sessions } = JSON.parse(process.argv[2] ?? "") as CrewOptions;
flushCompileCache();

const worker = persona("worker", {
  run: async ({ brief, step }) => {
    await step("work", async () => {
      leaveMark(marks, `+ ${brief}`);
      await pass(40);
      leaveMark(marks, `- ${brief}`);
    });
    return { summary: "done" };
  },
});
const crew = defineTeam("crew", { phases: [phase("work", { personas: [worker] })] });
const maestro = await open({ stateDir, teams: [crew], limits: { teams: { crew: limit } } });
for (let number = 1; number <= sessions; number += 1)
  await maestro.queue(crew, { brief: `session ${number}`, key: `session-${number}` });
await maestro.recover();
process.on("message", () => {});
