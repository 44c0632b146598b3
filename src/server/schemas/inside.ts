import { z } from "@hono/zod-openapi";
import { artifactFile, personaResult, personaView } from "./session.ts";
import { toolDoing } from "./situation.ts";
import { changedFile, checkResult, fileChange, list, must, sha256, time } from "./values.ts";

const count = z.number().int().min(0);

export const checkpointInfo = z
  .object({
    phase: z.string(),
    revision: count,
    file: z.string(),
    sha256: sha256.nullable(),
    createdAt: time.nullable(),
    valid: z.boolean(),
    awaitingReview: z.boolean(),
    problem: z.string().nullable(),
  })
  .openapi("Checkpoint");

export const personaDetail = z
  .object({
    phase: z.string(),
    persona: personaView,
    model: z.string().nullable(),
    limitUsd: z.number().nullable(),
    limitTokens: z.number().nullable(),
    reservedUsd: z.number().nullable(),
    instructions: z.string(),
    contract: z.object({
      deliverables: list(z.object({ name: z.string(), files: list(z.string()) })),
      checks: list(z.object({ name: z.string(), run: list(z.string()), must, weight: z.number() })),
      outputs: z.unknown(),
      consumes: list(z.string()).nullable(),
    }),
    checks: list(checkResult),
    files: list(changedFile),
    result: z.object(personaResult).nullable(),
  })
  .openapi("PersonaDetail");

const step = { seq: count, at: time };

export const stepBlock = z
  .discriminatedUnion("kind", [
    z.object({ kind: z.literal("text"), ...step, text: z.string() }),
    z.object({
      kind: z.literal("tool"),
      ...step,
      tool: z.string(),
      doing: toolDoing.nullable().openapi({ description: "Null: not a built-in tool." }),
      target: z.string(),
      outcome: z.string(),
      status: z.enum(["running", "passed", "failed"]),
      output: z.string().nullable(),
    }),
    z.object({
      kind: z.literal("edit"),
      ...step,
      tool: z.string(),
      path: z.string(),
      addedLines: count,
      removedLines: count,
      lines: list(z.object({ sign: z.enum([" ", "+", "-"]), number: count, text: z.string() })),
    }),
    z.object({ kind: z.literal("restart"), ...step, replayed: count, paidAgain: count }),
  ])
  .openapi("StepBlock", {
    description: "A recorded step for display. Its text is untrusted and never markup.",
  });

export const stepsPage = z.object({ steps: list(stepBlock), earlier: count }).openapi("StepsPage");

export const artifactTree = z
  .object({
    ref: z.string(),
    files: list(artifactFile.extend({ binary: z.boolean() })),
    trees: list(
      z.object({
        ref: z.string(),
        kind: z.enum(["head", "phase", "revision", "attempt", "parent"]),
        label: z.string(),
        at: time.nullable(),
      }),
    ),
  })
  .openapi("ArtifactTree");

export const fileChanges = z
  .object({ files: list(fileChange), more: count.openapi({ description: "How many files are not listed." }) })
  .openapi("FileChanges");

export const teamDefinition = z
  .object({
    name: z.string(),
    fingerprint: z.string(),
    file: z.string().nullable(),
    model: z.string().nullable(),
    given: list(z.object({ phase: z.string(), path: z.string() })),
    phases: list(
      z.object({
        name: z.string(),
        dependsOn: list(z.string()),
        gate: z.number().nullable(),
        personas: list(
          z.object({
            name: z.string(),
            work: z.enum(["model", "command", "function"]),
            model: z.string().nullable(),
            instructions: z.string().nullable(),
            maxAttempts: count,
            checks: list(z.string()),
            deliverables: list(z.string()),
          }),
        ),
      }),
    ),
  })
  .openapi("TeamDefinition");

export type PersonaDetail = z.infer<typeof personaDetail>;
export type FileChanges = z.infer<typeof fileChanges>;
export type StepBlock = z.infer<typeof stepBlock>;
export type StepsPage = z.infer<typeof stepsPage>;
export type ArtifactTree = z.infer<typeof artifactTree>;
export type TeamDefinitionView = z.infer<typeof teamDefinition>;
