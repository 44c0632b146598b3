import type { ModelPrice } from "../cost/model-price.ts";
import type { Contract } from "../domain/contract.ts";
import type { RunStep, SavedBy } from "../domain/durable-step.ts";
import type { Json } from "../domain/json.ts";
import { noUsage } from "../domain/usage.ts";
import type { EditSavings } from "../models/ports.ts";
import type { Environment } from "../models/providers.ts";
import { showProblem, validateJson } from "../workspace/json-schema.ts";
import { asReturn } from "./as-return.ts";
import { conversationWork } from "./conversation-work.ts";
import { type PersonaPolicy, toolPolicy } from "./governance.ts";
import type { Perform } from "./persona-context.ts";
import { pricingOf } from "./pricing.ts";

export interface ModelWork {
  readonly instructions: string;
  /** None: whoever runs it gets an error that says the ways to name one. */
  readonly model: string | undefined;
  readonly maxSteps: number | null;
  readonly maxTimeMs: number | null;
  readonly maxOutputTokens: number | null;
  readonly temperature: number | null;
  readonly policy: PersonaPolicy;
}

export interface ModelParts {
  readonly env: Environment;
  /** What the simulated model says. */
  readonly script: string | undefined;
  readonly priceOf: (model: string) => Promise<ModelPrice | null>;
}

/** A model with tools does the work. Its packages are loaded when the first one does. */
export function performWithModel(work: ModelWork, parts: ModelParts): Perform {
  return async (context) => {
    const [{ resolveModel }, { runModelPersona }, { adviseEdit }] = await Promise.all([
      import("../models/providers.ts"),
      import("../models/model-persona.ts"),
      import("../workspace/write-guard.ts"),
    ]);
    const { env, script, priceOf } = parts;
    const { model, name } = await resolveModel(context.settings.model ?? work.model, { env, script });
    const price = await priceOf(name);
    const maxOutputTokens = context.settings.maxOutputTokens ?? work.maxOutputTokens;
    const returned = await runModelPersona(conversationWork(work.instructions, context), {
      model,
      pricing: pricingOf(priceOf),
      runStep: withPatchSavings(context.runStep, name, price),
      files: context.files,
      adviseEdit,
      outputsProblem: outputsProblem(context.contract),
      runCheck: context.runCheck,
      signal: context.signal,
      policy: toolPolicy(work.policy),
      onText: context.onText,
      onProgress: context.progress,
      onWarning: (warning) => context.log(`the provider warns: ${JSON.stringify(warning)}`),
      ...(maxOutputTokens !== null && { maxOutputTokens }),
      ...(work.temperature !== null && { temperature: work.temperature }),
      limits: {
        ...(work.maxSteps !== null && { maxSteps: work.maxSteps }),
        ...(work.maxTimeMs !== null && { maxTimeMs: work.maxTimeMs }),
      },
    });
    return asReturn(returned);
  };
}

/** About as many bytes as models put into a token of code. */
const bytesPerToken = 4;

/** An edit costs the output of its passages; writing the file anew would have cost all of it, which may be less. */
function withPatchSavings(runStep: RunStep, model: string, price: ModelPrice | null): RunStep {
  const saved = (result: unknown): SavedBy | undefined => {
    const { edit } = result as { edit?: EditSavings };
    const tokens = Math.trunc(((edit?.rewriteBytes ?? 0) - (edit?.editBytes ?? 0)) / bytesPerToken);
    if (tokens === 0) return undefined;
    const cost = price?.cost({ ...noUsage, outputTokens: Math.abs(tokens) }) ?? null;
    const microUsd = cost === null ? null : Math.sign(tokens) * cost;
    return { kind: "patch", model, tokens, microUsd };
  };
  return (step) => runStep(step.kind === "tool" ? { ...step, saved } : step);
}

/** Told at the submission, while the conversation is still there to mend it. */
function outputsProblem({ outputs: schema }: Contract): (outputs: Json) => string | undefined {
  return (outputs) => {
    if (schema === undefined) return undefined;
    const problems = validateJson({ ...schema }, outputs).map(showProblem);
    return problems.length === 0 ? undefined : problems.join("; ");
  };
}
