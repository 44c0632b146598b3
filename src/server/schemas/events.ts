import { z } from "@hono/zod-openapi";
import { stepBlock } from "./inside.ts";
import { breakerView, serverStatus } from "./server.ts";
import {
  artifactFile,
  budgetView,
  decision,
  personaView,
  phaseHeader,
  sessionHeader,
  sessionRow,
} from "./session.ts";
import { list, time } from "./values.ts";

const count = z.number().int().min(0);

/** A journal row for display. Each kind has its own members. */
export const journalEntry = z
  .looseObject({
    kind: z.string(),
    seq: count.openapi({ description: "With `show=money`: the number of the call." }),
    at: time,
    phase: z.string().nullable(),
    persona: z.string().nullable(),
    round: count.nullable(),
    attempt: count.nullable(),
    started: count.nullable().openapi({ description: "The seq of the attempt's first row: its identity." }),
  })
  .openapi("JournalEntry");

export const journalFilter = z.enum(["all", "transitions", "failures", "money"]);

export const journalPage = z
  .object({ entries: list(journalEntry), total: count })
  .openapi("JournalPage", { description: "Newest first." });

/** The data of each event of the streams, by event name. */
export const streamEvents = {
  hello: z.object({ now: time, instance: z.string(), replay: count.nullable() }),
  session: sessionRow,
  breaker: breakerView,
  status: serverStatus,
  entry: journalEntry,
  change: z.object({
    session: sessionHeader.partial().optional(),
    phases: list(phaseHeader).optional(),
    personas: list(z.object({ phase: z.string(), persona: personaView })).optional(),
    budgets: list(budgetView).optional(),
    decisions: list(decision).optional(),
    artifacts: list(artifactFile).optional(),
  }),
  text: z.object({
    phase: z.string(),
    persona: z.string(),
    delta: z.string(),
    call: z.string(),
    outputTokens: count,
    startedAt: time,
  }),
  step: z.object({ phase: z.string(), persona: z.string(), block: stepBlock }),
} as const;

export type StreamEvents = {
  readonly [Name in keyof typeof streamEvents]: z.infer<(typeof streamEvents)[Name]>;
};
export type JournalEntry = z.infer<typeof journalEntry>;
export type JournalFilter = z.infer<typeof journalFilter>;
export type SessionChange = StreamEvents["change"];
