import { setTimeout as pass } from "node:timers/promises";
import type { PersonaContext, PersonaOptions, StepOptions, Team } from "../../../src/index.ts";
import { leaveMark, markOf } from "./effects.ts";
import { defineTeam, persona, phase } from "./package.ts";

export interface World {
  /** The file of the steps' marks. */
  readonly marks: string;
  /** `patient` waits until this file exists; `poison` ends its process until then. */
  readonly door: string;
  /** The address of the service of `client` and `neighbor`. */
  readonly service?: string | undefined;
  /** How long a step lasts after it has left its mark. */
  readonly effectMs?: number | undefined;
  /** The file of marks when a persona's work begins or continues after a crash. */
  readonly runs?: string | undefined;
  /** The process dies in this effect, or is stopped until the door is open. */
  readonly killIn?:
    | {
        readonly effect: string;
        readonly moment: "before" | "after";
        readonly by?: "SIGKILL" | "SIGSTOP";
      }
    | undefined;
  /** Uses a changed definition of the team. */
  readonly isChanged?: boolean | undefined;
}

export type Step = (
  name: string,
  result?: string | (() => string | Promise<string>),
  options?: StepOptions,
) => Promise<string>;

export type Work = (context: PersonaContext, step: Step) => Promise<void>;

type Extras = Pick<PersonaOptions, "consumes" | "contract">;

/** Each step leaves a mark, and the persona's result contains its steps' results. */
export function worker(name: string, world: World, work: Work, extras: Extras = {}) {
  return persona(name, {
    ...extras,
    run: async (context) => {
      const attempt = context.failures.length + 1;
      if (world.runs !== undefined) leaveMark(world.runs, markOf(name, attempt));
      const results: Record<string, string> = {};
      const called = new Set<string>();
      await work(context, async (step, result = `${step} by ${name}`, options = {}) => {
        const effect = async () => {
          // A failed probe is repeated in the same attempt; every other effect happens once.
          if (!called.has(step)) leaveMark(world.marks, markOf(name, attempt, step));
          if (options.dependency !== undefined) called.add(step);
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

export function only(persona: ReturnType<typeof worker>): Team {
  return defineTeam(persona.name, { phases: [phase("work", { personas: [persona] })] });
}
