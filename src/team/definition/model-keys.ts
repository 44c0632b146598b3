import { defaultLoopLimits } from "../../personas/model/loop-limits.ts";
import { providers } from "../../personas/model/provider-table.ts";
import { reasoningLevels } from "../../personas/model/reasoning.ts";
import { optional, withDefault } from "./fields.ts";
import { list, numberBetween, oneOf, wholeNumber, yesOrNo } from "./kinds.ts";
import { modelName } from "./model-name.ts";

const maxDayMs = 86_400_000;

/** Keys of a persona whose work is done by a model. */
export const modelKeys = {
  model: withDefault(modelName, null, {
    sentence: "The persona's own model.",
    example: providers.anthropic.example,
    otherwise: "the team's `model`",
  }),
  fallbackModels: withDefault(list(modelName, { allowed: "a list of models", most: 10 }), [], {
    sentence: "Models to use, in this order, when the model's service is down.",
    example: [providers.openai.example],
    otherwise: "none",
  }),
  maxSteps: withDefault(wholeNumber(1, 1_000), null, {
    sentence: "Model calls in one attempt.",
    example: 40,
    otherwise: `${defaultLoopLimits.maxSteps}`,
  }),
  maxTimeMs: optional(wholeNumber(1_000, 7 * maxDayMs), {
    sentence: "How long one attempt's conversation may take.",
    example: 3_600_000,
    otherwise: `${defaultLoopLimits.maxTimeMs}`,
  }),
  maxOutputTokens: withDefault(wholeNumber(1, 10_000_000), null, {
    sentence: "Output tokens of one model call.",
    example: 8_000,
    otherwise: "the model's own limit",
  }),
  reasoning: optional(oneOf(...reasoningLevels), {
    sentence:
      "How long the model may think before each answer. The tokens for it come on top of `maxOutputTokens` and are reserved with them.",
    example: "high",
    otherwise: "the model's own",
  }),
  contextWindow: optional(wholeNumber(1_000, 100_000_000), {
    sentence:
      "Tokens of input and output that a call of the model may have. Before a conversation fills it, its older messages are summarized.",
    example: 200_000,
    otherwise: "as published for the model; unknown models are not summarized",
  }),
  images: optional(yesOrNo, {
    sentence:
      "Whether the persona is shown the images that are attached to a brief. `true` says that its model takes images.",
    example: true,
    otherwise: "shown, and a model that is not known to take images is refused",
  }),
  temperature: withDefault(numberBetween(0, 2), null, {
    sentence: "The sampling temperature.",
    example: 0.2,
    otherwise: "the model's own",
  }),
};
