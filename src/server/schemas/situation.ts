import { z } from "@hono/zod-openapi";
import { list, time } from "./values.ts";

const count = z.number().int().min(0);

export const held = z
  .discriminatedUnion("kind", [
    z.object({ kind: z.literal("retry"), notBefore: time, because: z.string() }),
    z.object({ kind: z.literal("breaker"), dependency: z.string(), probeAt: time.nullable() }),
    z.object({ kind: z.literal("rate-limit"), dependency: z.string(), notBefore: time }),
    z.object({ kind: z.literal("reservation"), level: z.string() }),
  ])
  .openapi("Held", { description: "Why a running persona waits. It continues by itself." });

/** The action of a built-in tool. */
export const toolDoing = z.enum([
  "reads",
  "lists",
  "searches",
  "edits",
  "writes",
  "deletes",
  "moves",
  "checks",
  "submits",
  "runs",
  "asks",
]);

export const activity = z
  .object({
    doing: z.enum(["thinks", "decides", "ran", ...toolDoing.options]),
    target: z.string().nullable(),
    since: time,
  })
  .openapi("Activity");

/** Numbers and names for lists and forms, with one shape per status and reason. `headline` has the sentence. */
export const situation = z
  .discriminatedUnion("kind", [
    z.object({ kind: z.literal("queued"), ahead: count, places: count, inUse: count }),
    z.object({
      kind: z.literal("running"),
      phases: list(z.string()),
      latest: z.object({ persona: z.string(), activity }).nullable(),
      held: list(z.object({ persona: z.string(), held })),
      driverDied: z.boolean(),
    }),
    z.object({ kind: z.literal("paused") }),
    z.object({
      kind: z.literal("review"),
      phase: z.string(),
      filesChanged: count,
      next: list(z.string()),
      calls: list(
        z.object({
          seq: count,
          kind: z.enum(["call", "question"]),
          phase: z.string(),
          persona: z.string(),
          text: z.string(),
        }),
      ).openapi({ description: "Calls and questions that wait for a person. The first of many." }),
    }),
    z.object({
      kind: z.literal("help"),
      phase: z.string(),
      persona: z.string(),
      personas: count.openapi({
        description: "The number of personas that need help. `persona` is one of them.",
      }),
    }),
    z.object({
      kind: z.literal("unknown"),
      phase: z.string(),
      persona: z.string(),
      effect: z.string(),
      seq: count.openapi({ description: "The step to settle; 0 where several effects are unknown." }),
      effects: count,
    }),
    z.object({
      kind: z.literal("budget"),
      level: z.enum(["session", "day", "phase", "persona"]),
      unit: z.enum(["usd", "tokens"]),
      asked: z.number(),
      used: z.number(),
      limit: z.number(),
      phase: z.string().nullable(),
      persona: z.string().nullable(),
    }),
    z.object({
      kind: z.literal("breaker"),
      dependency: z.string(),
      openedAt: time,
      failedProbes: count,
      wakeAt: time.nullable(),
    }),
    z.object({ kind: z.literal("setup") }),
    z.object({
      kind: z.literal("completed"),
      gatesPassed: count,
      gates: count,
      unverified: list(z.string()),
      resumes: count,
    }),
    z.object({
      kind: z.literal("failed"),
      phase: z.string().nullable(),
      acceptChanges: z
        .boolean()
        .openapi({ description: "A resume with `acceptChanges` lets it continue as it is now." }),
    }),
    z.object({ kind: z.literal("canceled") }),
  ])
  .openapi("Situation");

export type Held = z.infer<typeof held>;
export type Activity = z.infer<typeof activity>;
export type Situation = z.infer<typeof situation>;
