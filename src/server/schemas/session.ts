import { z } from "@hono/zod-openapi";
import { attachmentTypes } from "../../domain/attachment.ts";
import { activity, held, situation } from "./situation.ts";
import {
  changedFile,
  checkResult,
  failure,
  gate,
  list,
  orNull,
  parkReason,
  range,
  runStatus,
  sessionStatus,
  sha256,
  time,
  usage,
} from "./values.ts";

const count = z.number().int().min(0);

const row = {
  id: z.string(),
  key: z.string().nullable(),
  team: z.string(),
  status: sessionStatus,
  reason: parkReason.nullable(),
  createdAt: time,
  updatedAt: time,
  usage,
  brief: z.string(),
  owner: z
    .string()
    .nullable()
    .openapi({ description: "Who started it, if that person has a token of their own." }),
  simulated: z.boolean(),
  since: time,
  headline: z.string().nullable().openapi({
    description:
      "Why it stopped or what it needs, on one line. Null while it runs and needs nothing, and when it has completed.",
  }),
  situation,
  limitUsd: z.number().nullable(),
  limitTokens: z.number().nullable(),
  forkOf: z.object({ id: z.string(), key: z.string().nullable(), at: z.string() }).nullable(),
};

export const sessionRow = z
  .object({ ...row, phases: list(z.object({ name: z.string(), status: runStatus })), phaseCount: count })
  .openapi("SessionRow");

export const viewCounts = z
  .object({ parked: count, active: count, finished: count, retrying: count, failed: count })
  .openapi("ViewCounts");

export const sessionsPage = z
  .object({
    sessions: list(sessionRow),
    cursor: z.string().nullable().openapi({ description: "Pass it as `cursor` for the next page." }),
    position: z.string().openapi({ description: "`/v1/events?after=` continues from it." }),
    total: count,
    counts: viewCounts,
  })
  .openapi("SessionsPage");

export const ticketView = z
  .object({
    fingerprint: z.string(),
    summary: z.string(),
    status: z.enum(["pending", "posting", "delivered"]),
    key: z.string().nullable(),
    url: z.string().nullable(),
    lastError: z.string().nullable(),
    notBefore: time.nullable(),
    at: time,
  })
  .openapi("Ticket");

const stoppedPersona = z.object({
  phase: z.string(),
  persona: z.string(),
  attempts: count,
  category: failure.shape.category,
  recoverable: z.boolean(),
  sameFailure: z.object({ count, of: count }).nullable(),
  output: z
    .object({
      command: z.string(),
      exitCode: z.number().nullable(),
      round: count,
      attempt: count,
      durationMs: z.number(),
      lines: list(z.object({ number: count, text: z.string(), marked: z.boolean() })),
      totalLines: count,
      sha256: sha256.nullable(),
    })
    .nullable(),
});

export const stopReport = z
  .object({
    personas: list(stoppedPersona.openapi("StoppedPersona")).openapi({
      description: "The persona that stopped the session, or each one that needs help (at most 50).",
    }),
  })
  .openapi("StopReport", { description: "The evidence: attempts, categories and output." });

export const personaResult = {
  summary: z.string(),
  outputs: z.record(z.string(), z.unknown()),
};

const protectedChange = {
  path: z.string().openapi({ description: "A path, or a member of a JSON file: `package.json#scripts`." }),
  why: z.string(),
};

const personaPutBack = z.object({ persona: z.string(), ...protectedChange }).openapi("PutBack", {
  description: "A change of a protected file, which was put back: the file is as it was before.",
});

export const review = z
  .object({
    phase: z.string(),
    revision: count,
    gate: orNull(gate),
    checks: list(checkResult),
    files: list(changedFile),
    putBack: list(personaPutBack),
    results: list(z.object({ persona: z.string(), ...personaResult })),
  })
  .openapi("Review");

const advice = z
  .object({
    text: z.string(),
    command: list(z.string())
      .nullable()
      .openapi({ description: "Arguments, program first; quote them for your shell." }),
  })
  .openapi("Advice");

export const stopExplanation = z
  .object({
    lost: z.string().openapi({ description: "Is anything lost?" }),
    cost: z.string().openapi({ description: "What does it cost now?" }),
    why: z.string().nullable().openapi({ description: "Why did it stop? Null while it runs." }),
    todo: list(advice).openapi({ description: "What do I do?" }),
    resume: orNull(advice).openapi({ description: "How do I resume?" }),
    needs: list(
      z.object({ phase: z.string(), persona: z.string(), why: z.string(), todo: list(advice) }),
    ).openapi({ description: "One for each persona where several need help; otherwise empty." }),
    raise: z
      .object({
        level: z.enum(["session", "phase", "persona"]),
        name: z.string().nullable(),
        unit: z.enum(["usd", "tokens"]),
        amount: z.number(),
      })
      .nullable()
      .openapi({ description: "The limit that `todo` proposes." }),
  })
  .openapi("StopExplanation");

export const waitingView = z
  .object({
    seq: count,
    kind: z.enum(["phase", "call", "question", "effect"]),
    persona: z.string().nullable(),
    call: z.unknown().openapi({
      description:
        "The phase, or the call that a person has to judge: for a call or a question, its tool and arguments.",
    }),
  })
  .openapi("Waiting", { description: "What waits for a person." });

export const effectView = z
  .object({
    seq: count,
    name: z.string(),
    state: z.enum(["happened", "unknown"]),
    at: time,
    phase: z.string(),
    persona: z.string(),
    because: z.string().nullable(),
  })
  .openapi("Effect", { description: "An effect that is not repeated in silence." });

const header = {
  ...row,
  explanation: stopExplanation,
  waiting: list(waitingView),
  effects: list(effectView),
  model: z.string().nullable(),
  ticket: orNull(ticketView),
  tickets: list(ticketView),
  epoch: count,
  entries: count,
  chainVerified: z.boolean(),
  reservedUsd: z.number().nullable(),
  restarts: list(time),
  teamFile: z.string().nullable(),
  stop: orNull(stopReport),
  review: orNull(review),
  forecast: orNull(range),
};

export const sessionHeader = z.object(header).openapi("SessionHeader");

const phase = {
  name: z.string(),
  status: runStatus,
  gate: orNull(gate),
  putBack: list(personaPutBack),
  checkpoint: z.object({ revision: count, sha256, sealedAt: time }).nullable(),
  dependsOn: list(z.string()),
  startedAt: time.nullable(),
  endedAt: time.nullable(),
  costUsd: z.number().nullable(),
  concurrency: count,
};

export const phaseHeader = z.looseObject(phase).openapi("PhaseHeader");

/** `did` is for programs; `action` is the same as a sentence. */
const healed = z
  .object({
    healer: z.string(),
    action: z.string(),
    did: z.looseObject({ kind: z.string() }),
    outcome: z.enum(["passed", "rolled-back", "kept"]),
    forbidden: z.string().optional(),
  })
  .openapi("Healed");

export const attemptView = z
  .looseObject({
    round: count,
    attempt: count,
    status: z.enum(["running", "stopped", "completed", "failed"]),
    startedAt: time,
    endedAt: time.nullable(),
    failure: orNull(failure),
    costUsd: z.number().nullable(),
    healed: z.boolean(),
    healing: list(healed),
    putBack: z.object({ files: list(z.object(protectedChange)), more: count }).nullable(),
    stuck: z
      .boolean()
      .openapi({ description: "It failed as the one before, on equal files: its round ended." }),
    waits: list(z.object({ dependency: z.string(), from: time, until: time.nullable() })),
    modelSteps: list(z.number()),
    toolSteps: list(z.number()),
  })
  .openapi("Attempt");

export const personaView = z
  .looseObject({
    name: z.string(),
    status: runStatus,
    needsYou: z.boolean().openapi({
      description: "It is out of attempts: when its phase ends, the session asks a person for help.",
    }),
    round: count,
    attempt: count,
    attempts: list(attemptView),
    usage,
    maxAttempts: count,
    maxRounds: count,
    summary: z.string().nullable(),
    activity: orNull(activity),
    held: orNull(held),
  })
  .openapi("Persona");

export const artifactFile = z
  .object({
    path: z.string(),
    sha256,
    bytes: count,
    persona: z.string().nullable(),
    phase: z.string().nullable(),
  })
  .openapi("ArtifactFile");

export const budgetView = z
  .looseObject({
    level: z.enum(["session", "day", "phase", "persona"]),
    phase: z.string().nullable(),
    persona: z.string().nullable(),
    limitUsd: z.number().nullable(),
    usedUsd: z.number().nullable(),
    reservedUsd: z.number().nullable(),
    limitTokens: z.number().nullable(),
    usedTokens: z.number(),
    reservedTokens: z.number(),
    forecastUsd: z.number().nullable(),
  })
  .openapi("Budget");

export const decision = z
  .looseObject({
    choice: z.string(),
    reason: z.string(),
    rejected: list(z.object({ choice: z.string(), reason: z.string() })),
    phase: z.string().nullable(),
    persona: z.string().nullable().openapi({ description: "Null: decided while the session was planned." }),
    at: time,
  })
  .openapi("Decision");

const leftOut = list(z.object({ path: z.string(), reason: z.string() }));

const baselineCheck = z
  .object({
    check: z.string(),
    status: z.enum(["passed", "failed", "not-run"]),
    passed: count.nullable().openapi({ description: "Tests; null where no reader knows." }),
    failed: count.nullable(),
    skipped: count.nullable(),
    output: sha256.nullable().openapi({ description: "The artifact with everything that it printed." }),
    text: z.string().openapi({ example: "3 of 153 fail before we began" }),
  })
  .openapi("BaselineCheck", { description: "A check on the files of the repository, before any work." });

/** The files that the session began with, and their origin. */
const source = z
  .union([
    z.looseObject({
      git: z.string(),
      ref: z.string(),
      commit: z.string(),
      tree: sha256,
      dirty: list(z.string()).openapi({ description: "Files that differed from the commit." }),
      leftOut,
    }),
    z.looseObject({
      upload: z.object({
        id: z.string(),
        format: z.enum(["zip", "tar.gz"]),
        bytes: count,
        sha256,
      }),
      tree: sha256,
      leftOut,
    }),
  ])
  .openapi("SessionSource");

const attachment = z
  .object({ name: z.string(), mediaType: z.enum(attachmentTypes), sha256, bytes: count })
  .openapi("Attachment", { description: "A file that belongs to the brief; its content is an artifact." });

/** `show --json`, with additions for the page. */
export const sessionView = z
  .looseObject({
    ...header,
    phases: list(z.looseObject({ ...phase, personas: list(personaView) })),
    budgets: list(budgetView),
    decisions: list(decision),
    artifacts: list(artifactFile),
    attachments: list(attachment),
    source: orNull(source),
    baseline: list(baselineCheck),
  })
  .openapi("Session");

export type SessionRow = z.infer<typeof sessionRow>;
export type SessionHeader = z.infer<typeof sessionHeader>;
export type PhaseHeader = z.infer<typeof phaseHeader>;
export type PersonaView = z.infer<typeof personaView>;
export type AttemptView = z.infer<typeof attemptView>;
export type BudgetView = z.infer<typeof budgetView>;
export type DecisionView = z.infer<typeof decision>;
export type StopReport = z.infer<typeof stopReport>;
export type Review = z.infer<typeof review>;
export type SessionPageView = z.infer<typeof sessionView>;
export type ViewCounts = z.infer<typeof viewCounts>;
