import { existsSync } from "node:fs";
import { setTimeout as pass } from "node:timers/promises";
import {
  defineTeam,
  type PersonaContext,
  persona,
  phase,
  type StepOptions,
  type Team,
} from "../../../src/index.ts";
import { leaveMark, markOf } from "./effects.ts";
import { until } from "./until.ts";

export interface World {
  /** Where each step leaves its mark. */
  readonly marks: string;
  /** `patient` works until this file exists, `poison` ends its process until then. */
  readonly door: string;
  /** How long a step lasts after it has left its mark. */
  readonly effectMs?: number | undefined;
}

type Work = (
  context: PersonaContext,
  step: (name: string, result?: string | (() => string), options?: StepOptions) => Promise<string>,
) => Promise<void>;

/** What the `dependent` team calls. */
export const dependency = "phone.example.org";

/** The teams that are killed. Each step leaves a mark, and what a persona returns is made of its steps' results. */
export const teams = {
  /** A bit of everything: a wait, a large result, personas side by side, an attempt that fails. */
  everyday: (world) =>
    defineTeam("everyday", {
      phases: [
        phase("design", {
          personas: [
            worker("architect", world, async (context, step) => {
              await step("outline");
              await context.sleep(20);
              await step("drawings", "d".repeat(300 * 1024));
              await step("summary");
            }),
          ],
        }),
        phase("build", {
          personas: [
            worker("backend", world, async ({ failures }, step) => {
              await step("schema");
              if (failures.length === 0) throw new Error("the first schema never fits");
              await step("api");
            }),
            worker("frontend", world, async (context, step) => {
              await step("page");
              await context.sleep(10);
              await step("style");
            }),
            worker("tester", world, async (_, step) => {
              for (const name of ["plan", "cases", "data"]) await step(name);
            }),
          ],
        }),
        phase("review", {
          personas: [
            worker("reviewer", world, async ({ context }, step) => {
              const summaries = Object.values(context.results).flatMap(Object.values<{ summary: string }>);
              await step("read", summaries.map(({ summary }) => summary).join("; "));
              await step("verdict");
            }),
          ],
        }),
      ],
    }),

  /** More rows than the journal keeps without an index. */
  long: (world) =>
    only(
      worker("clerk", world, async (_, step) => {
        for (let page = 1; page <= 2_100; page += 1) await step(`page ${page}`);
      }),
    ),

  /** Always delivers, never well enough. */
  hopeless: (world) =>
    only(
      worker("optimist", world, async (_, step) => {
        await step("try");
        throw new Error("not good enough");
      }),
    ),

  /** Three phases; the second does not get on until the door opens. */
  patient: (world) =>
    defineTeam("patient", {
      phases: [
        phase("plan", {
          personas: [
            worker("planner", world, async (_, step) => {
              for (const name of ["measure", "draw"]) await step(name);
            }),
          ],
        }),
        phase("build", {
          personas: [
            worker("builder", world, async ({ signal }, step) => {
              await step("foundation");
              await until("the door is open", () => signal.aborted || existsSync(world.door));
              signal.throwIfAborted();
              await step("walls");
            }),
          ],
        }),
        phase("inspect", {
          personas: [
            worker("inspector", world, async ({ context }, step) => {
              await step("report", context.results["build"]?.["builder"]?.summary);
            }),
          ],
        }),
      ],
    }),

  /** Waits for a second and a half between two steps. */
  sleepy: (world) =>
    only(
      worker("sleeper", world, async (context, step) => {
        await step("lie down");
        await context.sleep(1_500);
        await step("get up");
      }),
    ),

  /** Calls a service that is down at first: every probe fails until the fifth attempt. */
  dependent: (world) =>
    only(
      worker("caller", world, async ({ failures }, step) => {
        await step("look up the number");
        const answer = () => {
          if (failures.length >= 4) return "hello";
          throw Object.assign(new Error("connect ECONNREFUSED 192.0.2.1:443"), { code: "ECONNREFUSED" });
        };
        await step("call", answer, { dependency });
        await step("write it down");
      }),
    ),

  /** Asks something else once the door is open. */
  fickle: (world) =>
    only(
      worker("asker", world, async (_, step) => {
        await step("listen");
        const door = existsSync(world.door) ? "open" : "shut";
        await step("ask", `the door is ${door}`, { input: { door } });
        await step("note");
      }),
    ),

  /** Looks at the door again and again, each time with a wait that is recorded. */
  restless: (world) =>
    only(
      worker("watcher", world, async (context, step) => {
        await step("arrive");
        while (!existsSync(world.door)) await context.sleep(50);
        await step("enter");
      }),
    ),

  /** Makes something of every error, also of those that are not meant for it. */
  stubborn: (world) =>
    only(
      worker("improviser", world, async (_, step) => {
        await step("begin");
        await until("the door is open", () => existsSync(world.door));
        await step("continue").catch(() => "without that step, then");
      }),
    ),

  /** Ends its own process before any step. */
  poison: (world) =>
    only(
      worker("lemming", world, async (_, step) => {
        if (!existsSync(world.door)) {
          leaveMark(world.marks, "jump");
          process.kill(process.pid, "SIGKILL");
          await until("the signal has arrived", () => false);
        }
        await step("live");
      }),
    ),
} as const satisfies Record<string, (world: World) => Team>;

export type TeamName = keyof typeof teams;

function worker(name: string, world: World, work: Work) {
  return persona(name, {
    run: async (context) => {
      const results: Record<string, string> = {};
      await work(context, async (step, result = `${step} by ${name}`, options = {}) => {
        const effect = async () => {
          leaveMark(world.marks, markOf(name, context.failures.length + 1, step));
          if (world.effectMs !== undefined) await pass(world.effectMs);
          return typeof result === "string" ? result : result();
        };
        const recorded = await context.step(step, effect, options);
        results[step] = recorded.length > 1_000 ? `${recorded.length} characters` : recorded;
        return recorded;
      });
      return { summary: `${name} did ${Object.keys(results).length} steps`, outputs: results };
    },
  });
}

function only(persona: ReturnType<typeof worker>): Team {
  return defineTeam(persona.name, { phases: [phase("work", { personas: [persona] })] });
}
