import { existsSync } from "node:fs";
import type { ArmedFault } from "../../../src/store/fault-points.ts";
import { die } from "./die.ts";
import { leaveMark, readMarks } from "./effects.ts";
import { armFault, defineTeam, persona, phase } from "./package.ts";
import { until } from "./until.ts";

/** Settings of one life of the server, as JSON in the environment. */
export interface ServedWorld {
  readonly marks: string;
  /** The number of the life: a process ends in an effect once in it. */
  readonly life: number;
  readonly fault?: ArmedFault | undefined;
  /** Which process ends in this effect: the function's own, or the server. `stop`: the function's is stopped. */
  readonly killIn?:
    | {
        readonly effect: string;
        readonly moment: "before" | "after";
        readonly who: "function" | "server" | "stop";
      }
    | undefined;
}

/** Every effect of the team, as it marks the side file; the second has a probe. */
export const servedEffects = ["ring", "carry", "sign"] as const;

const { marks, life, fault, killIn } = JSON.parse(process.env["SERVED_WORLD"] ?? "{}") as ServedWorld;
// The server loads this file once, and each process of a function again, which inherits the server's variables.
if (process.argv.includes("serve")) {
  process.env["SERVER_PID"] = String(process.pid);
  armFault(fault);
}

const happen = async (label: string): Promise<string> => {
  await endIn(label, "before");
  leaveMark(marks, label);
  await endIn(label, "after");
  return `${label}, done`;
};

async function endIn(label: string, moment: "before" | "after"): Promise<void> {
  const ended = `${marks}.ended-${life}`;
  if (killIn?.effect !== label || killIn.moment !== moment || existsSync(ended)) return;
  leaveMark(ended, killIn.who);
  if (killIn.who === "function") return die();
  if (killIn.who === "server") {
    process.kill(Number(process.env["SERVER_PID"]), "SIGKILL");
    await until("the end of its server ends this process", () => false);
  }
  leaveMark(`${marks}.stopped`, String(process.pid));
  process.kill(process.pid, "SIGSTOP");
}

export default defineTeam("served", {
  phases: [
    phase("only", {
      personas: [
        persona("porter", {
          run: async ({ step }) => {
            const said = [
              await step("ring", () => happen("ring"), { effect: "once" }),
              await step("carry", () => happen("carry"), {
                effect: "once",
                probe: () =>
                  readMarks(marks).includes("carry")
                    ? { happened: true, result: "carry, done" }
                    : { happened: false },
              }),
              await step("sign", () => happen("sign"), { effect: "once" }),
            ];
            return { summary: said.join("; ") };
          },
        }),
      ],
    }),
  ],
});
