import { existsSync } from "node:fs";
import type { PersonaContext, Team } from "../../../src/index.ts";
import { die } from "./die.ts";
import { leaveMark } from "./effects.ts";
import { defineTeam, persona, phase } from "./package.ts";
import { until } from "./until.ts";
import type { World } from "./worker.ts";

const schema = { type: "object", properties: { to: { type: "string" } } };

/** Calls that wait for a person, as they mark the side file. */
export const officeCalls = ["send to Ann", "file to Bob", "send to Carl"] as const;

/**
 * Calls that a person approves: one that must happen at most once, one that may be repeated, one whose arguments a person
 * changes and one that a person rejects. Then a question. Another persona works beside them, until the door is open.
 */
export function office(world: World): Team {
  const tool = (name: string, repeatable: boolean) => ({
    description: `It can ${name}.`,
    inputSchema: schema,
    repeatable,
    execute: ({ to }: { readonly to: string }) => happen(`${name} to ${to}`, world),
  });
  const call = async ({ tools }: PersonaContext, name: string, to: string): Promise<string> =>
    String(await tools[name]?.execute({ to }));
  return defineTeam("office", {
    phases: [
      phase("work", {
        personas: [
          persona("clerk", {
            tools: { send: tool("send", false), file: tool("file", true), ask_person: true } as never,
            approve: ["send", "file"],
            run: async (context) => {
              const said = [
                await call(context, "send", "Ann"),
                await call(context, "file", "Bob"),
                await call(context, "send", "Wrong"),
                await call(context, "send", "Nobody"),
                String(await context.tools["ask_person"]?.execute({ question: "Which color?" })),
              ];
              return { summary: said.join("; ") };
            },
          }),
          persona("neighbor", {
            run: async ({ step, signal }) => {
              await step("look", () => "seen");
              await until("the door is open", () => signal.aborted || existsSync(world.door));
              signal.throwIfAborted();
              return { summary: "done" };
            },
          }),
        ],
      }),
    ],
  });
}

async function happen(label: string, { marks, killIn }: World): Promise<string> {
  if (killIn?.effect === label && killIn.moment === "before") await die();
  leaveMark(marks, label);
  if (killIn?.effect === label && killIn.moment === "after") await die();
  return `${label}, done`;
}
