import { z } from "@hono/zod-openapi";
import type { SessionPageView } from "../schemas/session.ts";
import { session } from "./reading-tools.ts";
import { summaryOf } from "./summary.ts";
import { type Api, askJson, sessionPath, show, type Tool, tool } from "./tool.ts";

const note = z.string().max(10_000);
const resume = z.boolean().default(true).describe("Resume the session afterwards");
const call = z.number().int().positive().optional().describe("A call in `waiting`, by its seq");
const isReadOnly = false;

/** Leaves out fields without a value: the API refuses keys that it does not know, and takes null for a value. */
const given = (fields: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

async function act(api: Api, path: string, body: object): Promise<string> {
  return show(summaryOf(await askJson<SessionPageView>(api, { method: "POST", path, body })));
}

export const actingTools: readonly Tool[] = [
  tool({
    name: "start_session",
    description:
      "Start a team on a brief. The same key gives the same session, so a repeated call starts nothing twice. Then use watch_session.",
    isReadOnly,
    input: z.object({
      team: z.string().describe("A team that the server has"),
      brief: z.string().min(1),
      key: z
        .string()
        .min(1)
        .max(200)
        .describe("Your own name for this session; the same work has the same key"),
      model: z.string().optional(),
      pauseAfter: z.array(z.string()).optional().describe("Phases after which a person reviews"),
      budgetUsd: z.number().positive().optional(),
      source: z
        .object({ git: z.string(), ref: z.string().optional() })
        .optional()
        .describe("A repository below a folder that the server allows"),
    }),
    call: ({ budgetUsd, ...request }, api) =>
      act(api, "/v1/sessions", given({ ...request, budget: budgetUsd && { usd: budgetUsd } })),
  }),
  tool({
    name: "approve",
    description: "Approve the phase that waits for review, or with `call` a call that waits for approval",
    isReadOnly,
    input: z.object({
      session,
      phase: z.string().optional(),
      call,
      arguments: z.record(z.string(), z.unknown()).optional().describe("Of the call, instead of its own"),
      note: note.optional(),
      resume,
    }),
    call: ({ session: name, call: seq, phase, ...word }, api) =>
      seq === undefined
        ? act(api, sessionPath(name, "/approve"), given({ phase, ...word }))
        : act(api, sessionPath(name, `/calls/${seq}/approve`), given(word)),
  }),
  tool({
    name: "reject",
    description:
      "Reject the phase that waits for review, or with `call` a call; the note says what to change",
    isReadOnly,
    input: z.object({ session, phase: z.string().optional(), call, note: note.min(1), resume }),
    call: ({ session: name, call: seq, phase, ...word }, api) =>
      seq === undefined
        ? act(api, sessionPath(name, "/reject"), given({ phase, ...word }))
        : act(api, sessionPath(name, `/calls/${seq}/reject`), given(word)),
  }),
  tool({
    name: "answer",
    description: "Answer a question of a persona that is in `waiting`",
    isReadOnly,
    input: z.object({ session, question: z.number().int().positive(), text: note.min(1), resume }),
    call: ({ session: name, question, ...word }, api) =>
      act(api, sessionPath(name, `/calls/${question}/answer`), word),
  }),
  tool({
    name: "settle",
    description: "Say whether an effect of unknown outcome happened",
    isReadOnly,
    input: z.object({
      session,
      step: z.number().int().positive(),
      happened: z.boolean(),
      result: z.unknown().optional(),
      resume,
    }),
    call: ({ session: name, step, ...word }, api) =>
      act(api, sessionPath(name, `/steps/${step}/settle`), given(word)),
  }),
  tool({
    name: "resume",
    description: "Resume a session that is parked, paused or failed",
    isReadOnly,
    input: z.object({ session }),
    call: (input, api) => act(api, sessionPath(input.session, "/resume"), {}),
  }),
  tool({
    name: "fork",
    description:
      "Say what a new session that runs again from a phase would reuse, run and cost. With confirm: true, create it.",
    isReadOnly,
    input: z.object({
      session,
      at: z.string().describe("The first phase that runs again"),
      fresh: z.boolean().optional().describe("Reuse nothing from there on"),
      model: z.string().optional(),
      key: z.string().optional(),
      confirm: z.boolean().default(false),
    }),
    call: async ({ session: name, confirm, ...request }, api) => {
      const path = sessionPath(name, "/fork");
      if (confirm) return act(api, path, given(request));
      return show(await askJson(api, { method: "POST", path, body: given({ ...request, dryRun: true }) }));
    },
  }),
];
