import { z } from "@hono/zod-openapi";
import { list, must, sha256, time } from "./values.ts";

const count = z.number().int().min(0);
const json = z.unknown();

const itemUsage = z
  .object({
    inputTokens: count,
    cachedInputTokens: count,
    cacheWriteTokens: count,
    outputTokens: count,
    reasoningTokens: count,
    cacheShare: z.number().nullable().openapi({ description: "From 0 to 1. Null: no input." }),
    costUsd: z.number().nullable().openapi({
      description: "Null: the price is unknown, or the session this one was forked from paid.",
    }),
    estimatedTokens: count.openapi({ description: "Perhaps billed: the provider reported nothing." }),
    estimatedUsd: z.number(),
  })
  .openapi("ItemUsage");

const place = {
  phase: z.string().nullable(),
  persona: z.string().nullable(),
  round: count.nullable(),
  attempt: count.nullable().openapi({ description: "Counted over all rounds of the persona in its phase." }),
  seq: count.nullable().openapi({ description: "The row. Null: a lost call has none." }),
  at: time,
  ms: count.nullable(),
  usage: z.union([itemUsage, z.null()]),
  content: z.string().openapi({ description: "The whole text. It is untrusted and never markup." }),
};

const transcriptItem = z
  .discriminatedUnion("kind", [
    z.object({
      ...place,
      kind: z.literal("prompt"),
      model: z.string(),
      messages: list(json).nullable().openapi({ description: "Null: the agent does not show its prompts." }),
      tools: list(json).nullable(),
      settings: z.record(z.string(), json).nullable(),
      repeats: count.openapi({ description: "Messages at the beginning that the call before sent as well." }),
    }),
    z.object({ ...place, kind: z.literal("reasoning") }),
    z.object({
      ...place,
      kind: z.literal("answer"),
      model: z.string(),
      toolCalls: list(z.object({ id: z.string(), tool: z.string(), arguments: json })),
      finishReason: z.string().nullable(),
      firstTokenMs: count.nullable(),
      error: z.string().nullable(),
      estimated: z.boolean().openapi({ description: "The answer was lost with its process." }),
      reused: z.boolean().openapi({ description: "Copied from the session this one was forked from." }),
    }),
    z.object({
      ...place,
      kind: z.literal("tool"),
      tool: z.string(),
      arguments: json,
      status: z.enum(["done", "failed", "refused", "rejected"]),
      output: sha256.nullable().openapi({ description: "The artifact with its whole output." }),
    }),
    z.object({
      ...place,
      kind: z.literal("check"),
      check: z.string(),
      status: z.enum(["passed", "failed", "not-run"]),
      message: z.string(),
      must: must.nullable(),
      of: z.enum(["attempt", "phase", "baseline"]),
      output: sha256.nullable(),
    }),
    z.object({
      ...place,
      kind: z.literal("healing"),
      healer: z.string(),
      outcome: z.enum(["passed", "rolled-back", "kept"]),
    }),
    z.object({ ...place, kind: z.literal("person"), action: z.string(), by: z.string().optional() }),
    z.object({
      ...place,
      kind: z.literal("step"),
      step: z.string(),
      status: z.enum(["done", "failed"]),
    }),
    z.object({ ...place, kind: z.literal("ending"), status: z.enum(["completed", "failed"]) }),
  ])
  .openapi("TranscriptItem");

export const transcriptPage = z
  .object({
    items: list(transcriptItem),
    next: count.nullable().openapi({ description: "For `after`, to read on. Null: this was the end." }),
  })
  .openapi("TranscriptPage");

export type TranscriptItemView = z.infer<typeof transcriptItem>;
export type TranscriptPageView = z.infer<typeof transcriptPage>;
