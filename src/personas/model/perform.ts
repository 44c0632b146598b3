import { publishedWindow } from "../../cost/context-windows.ts";
import type { ModelPrice } from "../../cost/model-price.ts";
import { isImage } from "../../domain/attachment.ts";
import { noUsage } from "../../domain/usage.ts";
import type { RunStep, SavedBy } from "../../journal/durable-step.ts";
import { asReturn, conversationWork } from "../conversation.ts";
import type { PersonaReturn, WorkContext } from "../function.ts";
import type { NamedServer } from "../mcp/mcp-tools.ts";
import { mustAsk } from "../tools/approval-rules.ts";
import type { OwnTools, ToolChoice } from "../tools/offered-tools.ts";
import { type PersonaPolicy, toolPolicy } from "../tools/tool-runner.ts";
import { type ToolEffect, toolNames } from "../tools/tool-table.ts";
import type { ModelSources } from "./model-sources.ts";
import type { EditSavings, FetchUrl, RunProgram } from "./ports.ts";
import type { Reasoning } from "./reasoning.ts";
import { type ImageChoice, refuseBlind } from "./takes-images.ts";
import { pricingOf } from "./usage.ts";

interface ModelWork {
  readonly instructions: string;
  /** Undefined: running it throws an error that says how to name one. */
  readonly model: string | undefined;
  readonly maxSteps: number | null;
  readonly maxTimeMs: number | null;
  readonly maxOutputTokens: number | null;
  readonly temperature: number | null;
  readonly reasoning: Reasoning | null;
  /** Null: as it is published for the model. */
  readonly contextWindow: number | null;
  readonly images: ImageChoice;
  readonly policy: PersonaPolicy;
  readonly tools: ToolChoice | undefined;
  /** Those of the team's code. */
  readonly ownTools: OwnTools;
  readonly shellEffect: ToolEffect;
  readonly webHosts: readonly string[];
  readonly fetchUrl: FetchUrl | undefined;
  readonly approve: readonly string[];
}

export interface ModelAccess extends ModelSources {
  /** A file with the answers of the simulated model. */
  readonly script: string | undefined;
  readonly priceOf: (model: string) => Promise<ModelPrice | null>;
}

/** The work of a persona that is a model with tools. Its packages are loaded when the first one runs. */
export function performWithModel(
  work: ModelWork,
  parts: ModelAccess,
): (context: WorkContext, runProgram: RunProgram, servers: readonly NamedServer[]) => Promise<PersonaReturn> {
  return async (context, runProgram, servers) => {
    const [{ resolveModel }, { runModelPersona }, { adviseEdit }, { offeredTools, serverPatterns }] =
      await Promise.all([
        import("./resolve-model.ts"),
        import("./model-persona.ts"),
        import("../../workspace/write-guard.ts"),
        import("../tools/offered-tools.ts"),
      ]);
    const { priceOf } = parts;
    const { model, name } = await resolveModel(context.settings.model ?? work.model, parts);
    const all = await context.attached();
    // Also where another model was chosen since the session began.
    refuseBlind(context.persona, name, work.images, all);
    const attached = all.map((each) => ({ ...each, isShown: isImage(each) && work.images !== false }));
    const price = await priceOf(name);
    const contextWindow = work.contextWindow ?? (await publishedWindow(name));
    const guidance = await context.guide.guidance();
    const { readSkill, skillsHash } = context.guide;
    const tools = await offeredTools(context.persona, { ...work, skillsHash }, context.contract);
    const { offerMcpTools } = servers.length === 0 ? {} : await import("../mcp/mcp-tools.ts");
    const patterns = serverPatterns(work.tools);
    // Of built-in tools that are not offered too: the same name always means the same tool.
    const taken = [...toolNames, ...tools.map((tool) => tool.name)];
    const ofServers =
      (await offerMcpTools?.(servers, patterns, taken, context.runStep, context.signal)) ?? [];
    const maxOutputTokens = context.settings.maxOutputTokens ?? work.maxOutputTokens;
    const returned = await runModelPersona(conversationWork(work.instructions, context, guidance, attached), {
      model,
      pricing: pricingOf(priceOf),
      runStep: withPatchSavings(context.runStep, name, price),
      files: context.files,
      adviseEdit,
      runCheck: context.runCheck,
      runProgram,
      readSkill,
      keepText: context.keepText,
      fetchUrl: work.fetchUrl,
      tools: [...tools, ...ofServers],
      signal: context.signal,
      policy: toolPolicy(work.policy),
      mustAsk: mustAsk(work.approve),
      refuseProtected: context.refuseProtected,
      onText: context.onText,
      onProgress: context.progress,
      onWarning: (warning) => context.log(`the provider warns: ${JSON.stringify(warning)}`),
      ...(maxOutputTokens !== null && { maxOutputTokens }),
      ...(work.reasoning !== null && { reasoning: work.reasoning }),
      ...(contextWindow !== undefined && { contextWindow }),
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
