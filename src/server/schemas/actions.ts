import { z } from "@hono/zod-openapi";
import { attachmentLimits } from "../../domain/attachment.ts";
import { isName, nameRule } from "../../domain/names.ts";
import { priorities } from "../../domain/queue.ts";
import { list, orNull, range, time } from "./values.ts";

const maxBrief = 1024 * 1024;
const name = z.string().min(1).max(200);
const note = z.string().max(20_000);
const tokens = z.number().int().min(1).max(1_000_000_000_000);
const usd = z.number().min(0.01).max(1_000_000);

/** The most entries of any list in a request. */
const most = 1_000;

const path = z.string().min(1).max(4_096);
const glob = z.string().min(1).max(1_000);
const mostGlobs = 100;

/** Text, or base64 for other bytes. */
const fileContent = z.union([z.string(), z.strictObject({ base64: z.base64() }), z.null()]).openapi({
  description: "Text, `{base64}` for other bytes, or null to remove the file.",
});

const phaseEdit = z.strictObject({
  outputs: z.record(z.string().max(1_000), z.unknown()).optional(),
  files: z
    .record(path, z.string().nullable())
    .refine((files) => Object.keys(files).length <= most, `It may name at most ${most} files.`)
    .optional(),
  summary: z.string().max(20_000).optional(),
});

export const edits = z
  .record(name, phaseEdit)
  .refine((edits) => Object.keys(edits).length <= most, `It may name at most ${most} phases.`)
  .openapi("Edits", { description: "By phase, as in `--edit phase=file`." });

const given = z
  .record(
    name,
    phaseEdit.extend({
      files: z
        .record(path, fileContent)
        .refine((files) => Object.keys(files).length <= most, `It may name at most ${most} files.`)
        .optional(),
    }),
  )
  .refine((phases) => Object.keys(phases).length <= most, `It may name at most ${most} phases.`)
  .openapi("Given", { description: "Existing output by phase, as with `--given`." });

const source = z
  .strictObject({
    git: path.openapi({ description: "A repository below a folder of `serve --repo-root`." }),
    ref: name.optional().openapi({
      description:
        "A branch, tag or commit. Without it the files on the disk, with changes that are not committed.",
    }),
    include: z.array(glob).max(mostGlobs).optional(),
    exclude: z.array(glob).max(mostGlobs).optional(),
  })
  .openapi("Source");

export const startRequest = z
  .strictObject({
    team: name,
    brief: z.string().min(1).max(maxBrief),
    key: name.optional(),
    model: name.optional(),
    queue: z.string().refine(isName, nameRule).optional(),
    priority: z.number().int().min(priorities.least).max(priorities.most).optional(),
    budget: z.strictObject({ usd: usd.optional(), tokens: tokens.optional() }).optional(),
    pauseAfter: z.array(name).max(most).optional(),
    only: z.array(name).max(most).optional(),
    from: name.optional(),
    until: name.optional(),
    source: source.optional(),
    upload: name
      .optional()
      .openapi({ description: "The id of `POST /v1/uploads`, instead of a repository." }),
    attachments: z.array(name).max(attachmentLimits.count).optional().openapi({
      description: "Ids of `POST /v1/uploads?name=`: images and texts that belong to the brief.",
    }),
    given: given.optional(),
  })
  .openapi("StartRequest");

export const resumeRequest = z
  .strictObject({
    edits: edits.optional(),
    acceptChanges: z.boolean().optional(),
    note: z.string().min(1).max(20_000).optional().openapi({
      description: "For the next attempts of the phases that are unfinished.",
    }),
    dryRun: z.boolean().optional(),
  })
  .openapi("ResumeRequest");

export const forkRequest = z
  .strictObject({
    at: name,
    edits: edits.optional(),
    fresh: z.boolean().optional(),
    repeatEffects: z.boolean().optional(),
    model: name.optional(),
    key: name.optional(),
    dryRun: z.boolean().optional(),
  })
  .openapi("ForkRequest");

export const reviewRequest = z
  .strictObject({ phase: name.optional(), note: note.optional(), resume: z.boolean().optional() })
  .openapi("ReviewRequest");

const repeatEffects = z
  .boolean()
  .optional()
  .openapi({ description: "Effects that happened in phases that run again may happen again." });

export const rejectRequest = reviewRequest.extend({ repeatEffects }).openapi("RejectRequest");

export const settleRequest = z
  .strictObject({
    happened: z.boolean(),
    result: z.unknown().optional().openapi({ description: "Of a step whose effect happened: any JSON." }),
    resume: z.boolean().optional(),
  })
  .openapi("SettleRequest");

export const approveCallRequest = z
  .strictObject({
    arguments: z
      .record(z.string().max(1_000), z.unknown())
      .optional()
      .openapi({ description: "Of the call, instead of those that the persona gave." }),
    note: note.optional(),
    resume: z.boolean().optional(),
  })
  .openapi("ApproveCallRequest");

export const rejectCallRequest = z
  .strictObject({
    note: note.min(1).openapi({ description: "The result of the call." }),
    resume: z.boolean().optional(),
  })
  .openapi("RejectCallRequest");

export const answerRequest = z
  .strictObject({ text: z.string().min(1).max(20_000), resume: z.boolean().optional() })
  .openapi("AnswerRequest");

export const budgetRequest = z
  .strictObject({
    persona: name.optional(),
    phase: name.optional(),
    usd: usd.nullable().optional().openapi({ description: "Null removes the limit." }),
    tokens: tokens.nullable().optional(),
    resume: z.boolean().optional(),
  })
  .refine(({ usd, tokens }) => usd !== undefined || tokens !== undefined, "It must have usd, tokens or both.")
  .openapi("BudgetRequest");

export const emptyRequest = z.strictObject({}).openapi("EmptyRequest");

export const plan = z
  .object({
    lines: list(
      z.object({
        action: z.enum(["reuse", "run", "then"]),
        phases: list(z.string()),
        personas: list(z.string()),
        sealedAt: time.nullable(),
        cost: orNull(range),
      }),
    ),
    total: orNull(range),
    expectedUsd: z.number().nullable(),
    leftUsd: z.number().nullable(),
    nothingRuns: z.boolean(),
    personas: list(
      z.object({
        phase: z.string(),
        persona: z.string(),
        action: z.enum(["kept", "reused", "runs", "may-run"]),
      }),
    ),
    effects: list(
      z.object({ seq: z.number().int(), name: z.string(), phase: z.string(), persona: z.string() }),
    ).openapi({ description: "Effects that happened and would happen again: these need `repeatEffects`." }),
    tokens: z.object({ least: z.number(), most: z.number() }),
    unknown: list(z.string()).openapi({
      description: "Personas without earlier runs. They are not part of the cost.",
    }),
  })
  .openapi("Plan");

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    code: z.string().openapi({ description: "Stable.", example: "SESSION_NOT_FOUND" }),
    advice: z.string().nullable(),
    requestId: z.string(),
    fields: list(z.object({ field: z.string(), message: z.string() })).optional(),
  })
  .openapi("Problem");

export type PlanView = z.infer<typeof plan>;
export type ForkRequest = z.infer<typeof forkRequest>;
