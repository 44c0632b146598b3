import type { Team } from "../../../src/index.ts";
import { die } from "./die.ts";
import { leaveMark } from "./effects.ts";
import { defineTeam, persona, phase } from "./package.ts";
import type { World } from "./worker.ts";

/** Every effect of the team, as it marks the side file. */
export const workshopEffects = [
  "pay Ann",
  "pay Bob",
  "buy lamp",
  "buy chair",
  "call one",
  "call two",
] as const;

/** It happens, and its server does not answer. */
export const unanswered = "buy chair";

const calls = (tool: string, inputs: readonly object[]) => [
  [
    ...inputs.map((input) => ({ calls: [{ tool, input }] })),
    { calls: [{ tool: "submit", input: { summary: "done" } }] },
  ],
];
const get = (service: string, call: string) => ({ command: `curl -sS ${service}/call%20${call}` });

/** The requests of the models. The service's address is part of a command. */
export const workshopScript = (service: string) => ({
  personas: {
    payer: calls("pay", [{ to: "Ann" }, { to: "Bob" }]),
    buyer: calls("shop_buy", [{ item: "lamp" }, { item: "chair" }]),
    caller: calls("run_command", [get(service, "one"), get(service, "two")]),
  },
});

/** Effects of models that must not be repeated in silence: a tool in code, a tool of a server, and commands. */
export function workshop({ marks, killIn, service = "" }: World): Team {
  const happen = async (label: string): Promise<string> => {
    if (killIn?.effect === label && killIn.moment === "before") await die();
    leaveMark(marks, label);
    if (killIn?.effect === label && killIn.moment === "after") await die();
    return `${label}, done`;
  };
  const pay = {
    description: "Pays a person.",
    inputSchema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
    execute: ({ to }: { readonly to: string }) => happen(`pay ${to}`),
  };
  return defineTeam("cashdesk", {
    model: "simulated",
    mcp: { shop: { url: `${service}/mcp` } },
    phases: [
      phase("work", {
        personas: [
          persona("payer", { instructions: "Pay.", tools: { pay } as never }),
          persona("buyer", { instructions: "Buy.", tools: ["shop/*"] }),
          persona("caller", {
            instructions: "Call.",
            tools: ["run_command"],
            shell: { network: true, effect: "once" },
          }),
        ],
      }),
    ],
  });
}
