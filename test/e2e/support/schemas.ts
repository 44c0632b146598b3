import { z } from "zod";

// The JSON that other programs depend on: keys may be added, and these may not be removed.

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
  reservedUsd: z.number(),
  cacheDiscountUsd: z.number().nullable(),
  prices: z.array(z.string()),
});
const status = z.enum(["queued", "running", "paused", "parked", "completed", "failed", "canceled"]);
const reason = z.enum(["review", "help", "budget", "breaker", "unknown", "setup"]).nullable();
const id = z.string().regex(/^[0-9a-z]{26}$/);
const time = z.iso.datetime();

const ticket = z.looseObject({
  fingerprint: z.string(),
  summary: z.string(),
  status: z.string(),
  key: z.string().nullable(),
  url: z.string().nullable(),
  lastError: z.string().nullable(),
  notBefore: time.nullable(),
});

const waiting = z.object({
  seq: z.number(),
  kind: z.enum(["phase", "call", "question", "effect"]),
  persona: z.string().nullable(),
  call: z.unknown(),
});
const effect = z.looseObject({
  seq: z.number(),
  name: z.string(),
  state: z.enum(["happened", "unknown"]),
  at: time,
});

const item = {
  phase: z.string().nullable(),
  persona: z.string().nullable(),
  attempt: z.int().nullable(),
  seq: z.int().nullable(),
  at: time,
  ms: z.number().nullable(),
  usage: z.looseObject({ inputTokens: z.int(), outputTokens: z.int() }).nullable(),
  content: z.string(),
};
const sent = z.array(z.unknown()).nullable();
export const transcriptSchema = z
  .array(
    z.discriminatedUnion("kind", [
      z.looseObject({
        ...item,
        kind: z.literal("prompt"),
        messages: sent,
        tools: sent,
        settings: z.unknown(),
      }),
      z.looseObject({
        ...item,
        kind: z.enum(["answer", "reasoning", "tool", "check", "healing", "person", "step", "ending"]),
      }),
    ]),
  )
  .min(1);

export const showSchema = z.looseObject({
  id,
  waiting: z.array(waiting),
  effects: z.array(effect),
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
  ticket: ticket.nullable(),
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

const personaResult = z.looseObject({ summary: z.string(), outputs: z.looseObject({}) });
const end = { id, status, reason, error: z.looseObject({ code: z.string() }).nullable() };
const driven = {
  ...end,
  wakeAt: time.nullable(),
  results: z.record(z.string(), z.record(z.string(), personaResult)),
  ticket: ticket.nullable(),
  tickets: z.array(ticket),
};
const files = z.looseObject({ written: z.array(z.string()), kept: z.array(z.looseObject({})) });

/** The last line of `watch`. */
export const resultSchema = z.looseObject({ kind: z.literal("result"), ...end, ticket: ticket.nullable() });

/** The last line of `run` and `resume`. */
export const drivenSchema = z.looseObject({ kind: z.literal("result"), ...driven, files: files.optional() });

export const detachedSchema = z.looseObject({ id, key: z.string(), pid: z.int(), log: z.string() });

export const phaseSchema = z.looseObject(driven);

const price = z.strictObject({ tokens: z.int(), usd: z.number().nullable() });
const plan = z.looseObject({
  personas: z
    .array(
      z.looseObject({
        phase: z.string(),
        persona: z.string(),
        action: z.enum(["kept", "reused", "runs", "may-run"]),
      }),
    )
    .min(1),
  cost: z.strictObject({ least: price, most: price }),
  phases: z.array(z.looseObject({ phase: z.string(), median: price, p90: price })),
  unknown: z.array(z.string()),
});

export const forkSchema = z.looseObject({ ...driven, files, plan });

/** Of a fork with `--dry-run`, or one that would run nothing. */
export const forkPlanSchema = z.looseObject({ id: z.null(), status: z.null(), plan });

/** After approve, reject, pause, cancel or budget. */
export const saidSchema = z.looseObject({ id, status, reason, resume: z.string().optional() });

const amount = z.strictObject({ tokens: z.int().nullable(), usd: z.number().nullable() });

export const budgetSchema = z.looseObject({
  id,
  status,
  reason,
  budgets: z
    .array(
      z.looseObject({
        level: z.enum(["persona", "phase", "session", "day"]),
        name: z.string(),
        limit: amount,
        used: amount,
        reserved: amount,
        overrun: z.boolean(),
      }),
    )
    .min(1),
});

export const breakersSchema = z
  .array(
    z.looseObject({
      name: z.string(),
      kind: z.enum(["closed", "open", "half-open"]),
      openedAt: time.optional(),
      probeAt: time.optional(),
      notBefore: time.nullable(),
    }),
  )
  .min(1);

export const pricesSchema = z.looseObject({
  sources: z
    .array(z.looseObject({ kind: z.string(), version: z.string(), models: z.int().positive() }))
    .min(1),
  models: z
    .array(
      z.looseObject({
        model: z.string(),
        version: z.string(),
        input: z.number(),
        cached: z.number().nullable(),
        cacheWrite: z.number().nullable(),
        output: z.number(),
        reasoning: z.number().nullable(),
        tiers: z.boolean(),
      }),
    )
    .min(1),
});

export const breakerResetSchema = z.looseObject({ name: z.string(), reset: z.literal(true) });

export const ticketsSchema = z.array(ticket).min(1);

export const carriedSchema = z.looseObject({
  session: id,
  checkpoints: z.int(),
  artifacts: z.int(),
  bytes: z.int(),
  file: z.string(),
});

export const importedSchema = carriedSchema.extend({
  trusted: z.boolean(),
  demands: z.array(
    z.looseObject({
      kind: z.string(),
      persona: z.string(),
      what: z.string().nullable(),
      sentence: z.string(),
    }),
  ),
});

export const restoredSchema = z.looseObject({
  session: id,
  checkpoints: z.array(z.string()),
  rows: z.int(),
});

export const initSchema = z.looseObject({
  file: z.string(),
  name: z.string(),
  model: z.string(),
  phases: z.array(z.string()).min(1),
});

const command = z.array(z.string()).min(1);

export const initRepositorySchema = z.looseObject({
  file: z.string(),
  name: z.string(),
  model: z.string().nullable(),
  repository: z.string(),
  setups: z.array(z.looseObject({ run: command, because: z.string() })),
  checks: z.array(z.looseObject({ name: z.string(), run: command })),
  lacksLockfile: z.boolean(),
});

export const demoRepositorySchema = z.looseObject({
  status: z.literal("completed"),
  simulated: z.literal(true),
  kept: z.int(),
  steps: z.int(),
  calls: z.int(),
  baseline: z.looseObject({ passed: z.int(), failed: z.int() }),
  notPaidTwice: z.looseObject({ calls: z.int() }),
  branch: z.string(),
  commits: z.array(z.string()),
  changed: z.array(z.string()),
  untouched: z.boolean(),
  project: z.string(),
  stateDir: z.string(),
  key: z.string(),
});

export const doctorSchema = z.looseObject({
  ok: z.boolean(),
  findings: z
    .array(
      z.looseObject({
        what: z.string(),
        state: z.enum(["ok", "warning", "wrong"]),
        found: z.string(),
        fix: z.string().optional(),
      }),
    )
    .min(5),
});

export const pruneSchema = z.looseObject({
  sessions: z.array(id),
  artifacts: z.int(),
  dryRun: z.boolean(),
});

export const trustSchema = z.strictObject({
  path: z.string(),
  trusted: z.array(
    z.strictObject({ path: z.string(), sha256: z.string().length(64), demands: z.array(z.string()) }),
  ),
  revoked: z.array(z.string()),
});

export const configSchema = z
  .array(
    z.looseObject({
      key: z.string(),
      value: z.json(),
      origin: z.string(),
      environment: z.string(),
      description: z.string(),
    }),
  )
  .min(10);

export const completionSchema = z.looseObject({ shell: z.string(), script: z.string().min(1_000) });

export const demoSchema = z.looseObject({
  status: z.literal("completed"),
  simulated: z.literal(true),
  kept: z.int(),
  steps: z.int(),
  calls: z.int(),
  tokens: z.int(),
  costUsd: z.number(),
  notPaidTwice: z.looseObject({ calls: z.int(), tokens: z.int(), usd: z.number() }),
  retried: z.int(),
  healed: z.int(),
  checkpoints: z.int(),
  files: z.int(),
  folder: z.string(),
  project: z.string(),
  stateDir: z.string(),
  key: z.string(),
});

export const serveSchema = z.looseObject({
  url: z.url(),
  stateDirectory: z.string(),
  dashboard: z.url(),
  pid: z.int(),
});

export const linkSchema = z.looseObject({ url: z.url() });

export const diffSchema = z.strictObject({ diff: z.string() });
export const appliedSchema = z.strictObject({
  written: z.array(z.string()),
  removed: z.array(z.string()),
  conflicts: z.array(z.strictObject({ path: z.string(), reason: z.string(), isMarked: z.boolean() })),
});
export const branchSchema = z.strictObject({
  branch: z.string(),
  commits: z.array(z.string()),
  remote: z.string().nullable(),
  pullRequest: z.looseObject({ status: z.string(), url: z.string().nullable() }).nullable(),
});

export const userSchema = z.looseObject({ name: z.string(), role: z.enum(["viewer", "operator", "admin"]) });
export const usersSchema = z.array(userSchema).min(1);
export const revokedSchema = z.object({ name: z.string(), revoked: z.literal(true) });
export const auditSchema = z.array(
  z.looseObject({ at: time, person: z.string().nullable(), subject: z.string().nullable() }),
);
