import { z } from "@hono/zod-openapi";
import { gate, list, time } from "./values.ts";

const count = z.number().int().min(0);

export const held = z
  .discriminatedUnion("kind", [
    z.object({ kind: z.literal("retry"), notBefore: time, because: z.string() }),
    z.object({ kind: z.literal("breaker"), dependency: z.string(), probeAt: time.nullable() }),
    z.object({ kind: z.literal("rate-limit"), dependency: z.string(), notBefore: time }),
    z.object({ kind: z.literal("reservation"), level: z.string() }),
  ])
  .openapi("Held", { description: "What holds up a persona that is still running; it goes on by itself." });

export const activity = z
  .object({
    doing: z.enum([
      "thinks",
      "reads",
      "lists",
      "searches",
      "edits",
      "writes",
      "checks",
      "decides",
      "submits",
      "runs",
      "ran",
    ]),
    target: z.string().nullable(),
    since: time,
  })
  .openapi("Activity");

/** Where a session stands, as facts: one shape per status and reason. */
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
    z.object({
      kind: z.literal("paused"),
      after: z.string().nullable(),
      how: z.enum(["asked", "until", "only", "pause-after", "interrupted"]),
    }),
    z.object({
      kind: z.literal("review"),
      phase: z.string(),
      gate: gate.nullable(),
      filesChanged: count,
      next: list(z.string()),
    }),
    z.object({
      kind: z.literal("help"),
      phase: z.string(),
      persona: z.string(),
      check: z.string().nullable(),
      message: z.string(),
      personas: count.openapi({
        description: "How many need help; with more than one, persona is one of them.",
      }),
      attempts: count,
      maxAttempts: count,
    }),
    z.object({
      kind: z.literal("budget"),
      level: z.string(),
      unit: z.enum(["usd", "tokens"]),
      asked: z.number(),
      used: z.number(),
      limit: z.number(),
      phase: z.string().nullable(),
      persona: z.string().nullable(),
      attempt: count.nullable(),
    }),
    z.object({
      kind: z.literal("breaker"),
      dependency: z.string(),
      openedAt: time,
      failedProbes: count,
      wakeAt: time.nullable(),
    }),
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
      message: z.string(),
      gate: gate.nullable(),
      acceptChanges: z.boolean(),
    }),
    z.object({ kind: z.literal("canceled"), after: z.string().nullable(), checkpoints: count }),
  ])
  .openapi("Situation");

export type Held = z.infer<typeof held>;
export type Activity = z.infer<typeof activity>;
export type Situation = z.infer<typeof situation>;
