import { z } from "@hono/zod-openapi";
import { failureCategories } from "../../domain/failure.ts";
import { explainMoney } from "../../domain/money-terms.ts";
import { forEachCount } from "../../domain/usage.ts";
import { parkReasonNames, sessionStatuses } from "../../journal/standing.ts";

export const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();

/** For schemas with a name in the document: `.nullable()` would be written as an object that may be null and may not. */
export const orNull = <Schema extends z.ZodType>(schema: Schema) => z.union([schema, z.null()]);

export const time = z.iso
  .datetime()
  .openapi({ description: "ISO 8601, UTC", example: "2026-11-15T02:14:07.000Z" });
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.number().int().min(0);

export const sessionStatus = z.enum(sessionStatuses);
export const parkReason = z.enum(parkReasonNames);
export const runStatus = z
  .enum(["pending", "running", "stopped", "completed", "failed", "skipped", "reused"])
  .openapi({ description: "`stopped`: it was running when the session stopped." });

export const usage = z
  .object({
    ...forEachCount(() => count),
    costUsd: z
      .number()
      .nullable()
      .openapi({
        description: `${explainMoney("costUsd")} Null: the price of a model is unknown.`,
      }),
    calls: count,
    estimatedTokens: count,
    estimatedUsd: z.number().openapi({ description: explainMoney("estimatedUsd") }),
    reservedUsd: z.number().openapi({ description: explainMoney("reservedUsd") }),
    savedTokens: z.number(),
    savedUsd: z
      .number()
      .nullable()
      .openapi({
        description: `${explainMoney("savedUsd")} Null: a part of it has no known price.`,
      }),
    cacheDiscountUsd: z
      .number()
      .nullable()
      .openapi({
        description: `${explainMoney("cacheDiscountUsd")} Null: a part of it has no known price.`,
      }),
    unpricedCalls: count,
    unreportedCalls: count.openapi({ description: "Calls whose tokens were not reported." }),
    simulatedCalls: count.openapi({
      description: "Calls of the simulated model. Their dollars are invented.",
    }),
    simulatedUsd: z.number(),
    simulatedUnreportedCalls: count,
    simulatedEstimatedTokens: count.openapi({
      description: "The part of `estimatedTokens` that the simulated model never billed.",
    }),
    simulatedEstimatedUsd: z.number(),
  })
  .openapi("Usage");

export const range = z
  .object({ lowUsd: z.number(), highUsd: z.number() })
  .openapi("Range", { description: "Dollars: the likely least and the possible most." });

export const gate = z
  .object({
    threshold: z.number().nullable(),
    score: z.number().nullable(),
    verdict: z.enum(["passed", "failed", "unverified"]).nullable(),
  })
  .openapi("Gate");

export const failure = z
  .looseObject({
    category: z.enum(failureCategories),
    severity: z.enum(["critical", "high", "medium", "low"]),
    message: z.string(),
    details: z.string().optional(),
    file: z.string().optional(),
    line: z.number().optional(),
    code: z.string().optional(),
    source: z.string(),
    recoverable: z.boolean(),
    outage: z.boolean(),
    suggestedFix: z.string(),
  })
  .openapi("Failure");

export const must = z.union([z.boolean(), z.literal("no-worse")]).openapi({
  description: "Whether it fails the attempt. `no-worse`: only if it is worse than before the session began.",
});

export const testCounts = z.object({ passed: count, failed: count, skipped: count }).openapi("TestCounts");

export const checkResult = z
  .object({
    kind: z.enum(["deliverable", "schema", "command"]),
    name: z.string(),
    status: z.enum(["passed", "failed", "not-run"]),
    must,
    weight: z.number(),
    message: z.string(),
    tests: orNull(testCounts).openapi({ description: "Null: no reader knows the number of tests." }),
    output: sha256
      .nullable()
      .openapi({ description: "The artifact with everything that it printed; null: it ran no command." }),
  })
  .openapi("CheckResult");

export const changedFile = z
  .object({
    path: z.string(),
    before: sha256.nullable(),
    after: sha256.nullable(),
    bytes: count,
  })
  .openapi("ChangedFile");

/** One file of a difference, with the line counts and renames of git. */
export const fileChange = changedFile
  .extend({
    from: z.string().nullable().openapi({ description: "Where a renamed file was before." }),
    status: z.enum(["added", "changed", "deleted", "renamed"]),
    addedLines: count.nullable().openapi({ description: "Null for a binary file." }),
    removedLines: count.nullable(),
  })
  .openapi("FileChange");

export type FailureView = z.infer<typeof failure>;
export type Usage = z.infer<typeof usage>;
export type Range = z.infer<typeof range>;
export type Gate = z.infer<typeof gate>;
export type CheckView = z.infer<typeof checkResult>;
export type ChangedFile = z.infer<typeof changedFile>;
