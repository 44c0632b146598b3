import { existsSync } from "node:fs";
import type { Team } from "../../../src/index.ts";
import { jiraAccount } from "../../support/loopback-jira-fields.ts";
import { treasury } from "./effect-team.ts";
import { leaveMark, readMarks } from "./effects.ts";
import { fileTeams } from "./file-teams.ts";
import { office } from "./office-team.ts";
import { defineTeam, phase } from "./package.ts";
import { till } from "./till-team.ts";
import { until } from "./until.ts";
import { only, type World, worker } from "./worker.ts";
import { workshop } from "./workshop-team.ts";

/** The dependency of the `dependent` team. */
export const dependency = "phone.example.org";

/** The errors of the `indiscreet` team; the part after the space is a secret. */
export const indiscretions: readonly (readonly [text: string, secret: string])[] = [
  ["The model refused Authorization: Bearer", "v1.f00dfacecafe0123456789"],
  ["Cannot connect to postgres://maestro:", "hunter2-and-more"],
  ["OPENAI_API_KEY=", "sk-proj-0123456789abcdefghij"],
  ["git clone failed for", "ghp_0123456789abcdefghijABCDEFGHIJ012345"],
  ["GET https://api.example.org/v1/models?api_key=", "qwertyuiop-0987654321"],
  ["The tracker said no to", jiraAccount.apiToken],
];

/** The teams whose processes are killed. Each step leaves a mark, and a persona's result contains its steps' results. */
export const teams = {
  ...fileTeams,
  treasury,
  office,
  till,
  cashdesk: workshop,
  /** The crew on the files of a repository. */
  based: (world: World) => fileTeams.crew(world),

  /** A wait, a large result, parallel personas, and an attempt that fails. */
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

  /** More rows than the unindexed tail of the journal holds. */
  long: (world) =>
    only(
      worker("clerk", world, async (_, step) => {
        for (let page = 1; page <= 2_100; page += 1) await step(`page ${page}`);
      }),
    ),

  /** Always fails on quality. */
  hopeless: (world) =>
    only(
      worker("optimist", world, async (_, step) => {
        await step("try");
        throw new Error("not good enough");
      }),
    ),

  /** Always fails, with secrets in its errors. */
  indiscreet: (world) =>
    only(
      worker("gossip", world, async ({ failures }, step) => {
        await step("whisper");
        const [text, secret] = indiscretions[failures.length] ?? ["", ""];
        const glue = /[:=]$/.test(text) ? "" : " ";
        throw new Error(`${text}${glue}${secret}${text.includes("://maestro") ? "@db.example.org" : ""}`, {
          cause: new Error(`{"password": "${secret}"}`),
        });
      }),
    ),

  /** Three phases; the second waits until the door opens. */
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

  /** Sleeps long enough to rest. */
  drowsy: (world) =>
    only(
      worker("dozer", world, async (context, step) => {
        await step("lie down");
        await context.sleep(12_000);
        await step("get up");
      }),
    ),

  /** Calls a service that is down at first: for one attempt, and for the three probes that are the second. */
  dependent: (world) =>
    only(
      worker("caller", world, async ({ failures }, step) => {
        await step("look up the number");
        const answer = () => {
          if (failures.length >= 2) return "hello";
          throw Object.assign(new Error("connect ECONNREFUSED 192.0.2.1:443"), { code: "ECONNREFUSED" });
        };
        await step("call", answer, { dependency });
        await step("write it down");
      }),
    ),

  /** Calls a service that fails so often that the third attempt repeats its last call in place. */
  shaky: (world) =>
    only(
      worker("asker", world, async (_, step) => {
        for (const [question, failures] of Object.entries({ first: 1, second: 1, third: 2 })) {
          const ask = () => {
            leaveMark(world.marks, `asked the ${question}`);
            const asked = readMarks(world.marks).filter((mark) => mark === `asked the ${question}`);
            if (asked.length > failures) return "an answer";
            throw Object.assign(new Error("connect ECONNREFUSED 192.0.2.1:443"), { code: "ECONNREFUSED" });
          };
          await step(question, ask, { dependency });
        }
      }),
    ),

  /** Calls a real service, and fails when it does. */
  client: (world) =>
    only(
      worker("client", world, async (_, step) => {
        await step("prepare");
        await step("call", () => callService("client", world), { dependency });
        await step("file");
      }),
    ),

  /** Calls the same service, once the door is open. */
  neighbor: (world) =>
    only(
      worker("neighbor", world, async (_, step) => {
        await step("prepare");
        await until("the door is open", () => existsSync(world.door));
        await step("call", () => callService("neighbor", world), { dependency });
        await step("file");
      }),
    ),

  /** Always fails on quality; its service is down during the first two attempts, which it ignores. */
  luckless: (world) =>
    only(
      worker("pessimist", world, async ({ failures }, step) => {
        await step("try");
        const answer = () => {
          if (failures.length >= 2) return "hello";
          throw Object.assign(new Error("connect ECONNREFUSED 192.0.2.1:443"), { code: "ECONNREFUSED" });
        };
        await step("call", answer, { dependency }).catch(() => "then without");
        throw new Error("not good enough");
      }),
    ),

  /** Changes the input of a step once the door is open. */
  fickle: (world) =>
    only(
      worker("asker", world, async (_, step) => {
        await step("listen");
        const door = existsSync(world.door) ? "open" : "shut";
        await step("ask", `the door is ${door}`, { input: { door } });
        await step("note");
      }),
    ),

  /** Polls the door with recorded waits. */
  restless: (world) =>
    only(
      worker("watcher", world, async (context, step) => {
        await step("arrive");
        while (!existsSync(world.door)) await context.sleep(50);
        await step("enter");
      }),
    ),

  /** Catches every error, also those of Maestro. */
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

/** Like an HTTP client: a failed response becomes an error with its status. */
async function callService(caller: string, { service = "" }: World): Promise<string> {
  const response = await fetch(service, { headers: { "x-caller": caller } });
  const { ok, status } = response;
  if (!ok) throw Object.assign(new Error(`the service answered ${status}`), { status, response });
  return "hello";
}
