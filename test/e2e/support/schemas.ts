import { z } from "zod";

// What `interface` promises other programs; more keys may come, these may not go.

const usage = z.looseObject({
  inputTokens: z.int(),
  cachedInputTokens: z.int(),
  outputTokens: z.int(),
  reasoningTokens: z.int(),
  costUsd: z.number().nullable(),
  calls: z.int(),
  estimatedTokens: z.int(),
  estimatedUsd: z.number(),
  savedTokens: z.int(),
  savedUsd: z.number().nullable(),
});
const status = z.enum(["queued", "running", "paused", "parked", "completed", "failed", "canceled"]);
const reason = z.enum(["review", "help", "budget", "breaker"]).nullable();
const id = z.string().regex(/^[0-9a-z]{26}$/);
const time = z.iso.datetime();

export const showSchema = z.looseObject({
  id,
  key: z.string().nullable(),
  team: z.string(),
  brief: z.string(),
  status,
  reason,
  model: z.string().nullable(),
  createdAt: time,
  updatedAt: time,
  phases: z.array(
    z.looseObject({
      name: z.string(),
      status: z.enum(["pending", "running", "completed", "failed", "skipped", "reused"]),
      gate: z
        .looseObject({
          threshold: z.number().nullable(),
          score: z.number().nullable(),
          verdict: z.enum(["passed", "failed", "unverified"]),
        })
        .nullable(),
      personas: z.array(
        z.looseObject({
          name: z.string(),
          status: z.string(),
          round: z.int(),
          attempt: z.int(),
          attempts: z.array(
            z.looseObject({
              round: z.int(),
              attempt: z.int(),
              status: z.enum(["running", "completed", "failed"]),
              startedAt: time,
              endedAt: time.nullable(),
              failure: z.looseObject({ message: z.string() }).nullable(),
            }),
          ),
          usage: usage.nullable(),
        }),
      ),
      checkpoint: z.looseObject({ revision: z.int(), sha256: z.string() }).nullable(),
    }),
  ),
  usage,
  budgets: z.array(z.looseObject({ level: z.string(), name: z.string() })),
  ticket: z.looseObject({}).nullable(),
  artifacts: z.array(
    z.looseObject({
      path: z.string(),
      sha256: z.string().length(64),
      bytes: z.int(),
      persona: z.string().nullable(),
      phase: z.string().nullable(),
    }),
  ),
  decisions: z.array(z.looseObject({ title: z.string() })),
});

export const sessionsSchema = z.array(
  z.looseObject({
    id,
    key: z.string().nullable(),
    team: z.string(),
    status,
    reason,
    createdAt: time,
    updatedAt: time,
    usage,
  }),
);

export const checkpointsSchema = z.array(
  z.looseObject({
    phase: z.string(),
    revision: z.int(),
    file: z.string(),
    sha256: z.string(),
    createdAt: time,
    valid: z.boolean(),
    awaitingReview: z.boolean(),
  }),
);

export const usageSchema = z.looseObject({
  total: usage,
  rows: z.array(z.looseObject({ name: z.string(), ...usage.shape })),
});

export const eventSchema = z.looseObject({ kind: z.string(), sessionId: z.string() });

export const resultSchema = z.looseObject({ kind: z.literal("result"), id, status });
