import { existsSync, writeFileSync } from "node:fs";
import type { PersonaContext, StepOptions, Team } from "../../../src/index.ts";
import { die } from "./die.ts";
import { leaveMark, readMarks } from "./effects.ts";
import { DidNotHappen, defineTeam, persona, phase } from "./package.ts";
import { until } from "./until.ts";
import type { World } from "./worker.ts";

/** Every effect of the team, as it marks the side file. */
export const treasuryEffects = [
  "cashier: charge",
  "cashier: receipt",
  "clerk: refund",
  "clerk: ship 1",
  "clerk: ship 2",
  "clerk: ship 3",
  "printer: print",
  "mailer: mail",
] as const;

type Once = (name: string, options?: StepOptions) => Promise<string>;

/**
 * Effects that must not be repeated in silence: without a probe, with one, in parallel, before an attempt that fails, with
 * an error after they happened, and with an error that says that they did not happen.
 */
export function treasury(world: World): Team {
  const work = (name: string, run: (once: Once, context: PersonaContext) => Promise<void>) =>
    persona(name, {
      run: async (context) => {
        const outputs: Record<string, string> = {};
        await run(async (step, options) => {
          outputs[step] = await context.step(step, () => happen(`${name}: ${step}`, world), {
            ...options,
            effect: "once",
          });
          return outputs[step];
        }, context);
        return { summary: `${name} is done`, outputs };
      },
    });
  const probe = (label: string) => () =>
    readMarks(world.marks).includes(label)
      ? ({ happened: true, result: resultOf(label) } as const)
      : ({ happened: false } as const);
  return defineTeam("treasury", {
    phases: [
      phase("work", {
        personas: [
          work("cashier", async (once, { step, failures }) => {
            await step("count", () => "counted");
            await once("charge");
            if (failures.length === 0) throw new Error("the first balance is never right");
            await once("receipt", { probe: probe("cashier: receipt") });
          }),
          work("clerk", async (once, { step }) => {
            await step(
              "refund",
              async () => {
                const refused = `${world.marks}.refused`;
                if (!existsSync(refused)) {
                  writeFileSync(refused, "");
                  throw new DidNotHappen("The bank is closed.");
                }
                return happen("clerk: refund", world);
              },
              { effect: "once" },
            );
            await Promise.all(
              [1, 2, 3].map((number) =>
                once(`ship ${number}`, { input: number, probe: probe(`clerk: ship ${number}`) }),
              ),
            );
          }),
          work("printer", async (_, { step }) => {
            await step(
              "print",
              async () => {
                await happen("printer: print", world);
                throw new Error("The printer hung up.");
              },
              { effect: "once" },
            );
          }),
        ],
      }),
      phase("tell", {
        personas: [
          work("mailer", async (once) => {
            await once("mail");
          }),
        ],
      }),
    ],
  });
}

export const resultOf = (label: string): string => `${label}, done`;

async function happen(label: string, world: World): Promise<string> {
  await dieIf(label, "before", world);
  leaveMark(world.marks, label);
  await dieIf(label, "after", world);
  return resultOf(label);
}

async function dieIf(label: string, moment: "before" | "after", { killIn, door }: World): Promise<void> {
  if (killIn?.effect !== label || killIn.moment !== moment) return;
  if (killIn.by !== "SIGSTOP") return die();
  process.kill(process.pid, "SIGSTOP");
  await until("the process is continued", () => existsSync(door));
}
