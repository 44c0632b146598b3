import { MaestroError } from "../../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../../domain/json.ts";
import { redact } from "../../domain/redact.ts";
import type { TeamDefinition } from "../../team/definition/team-definition.ts";
import { showProblem, validateJson } from "../../workspace/json-schema.ts";
import {
  briefTypes,
  type Classification,
  type Classified,
  complexities,
  expertises,
  type ModelPlan,
  parallelisms,
} from "./classification.ts";
import { planProblem, planSchema } from "./model-plan.ts";

const maxAnswerBytes = 32 * 1024;
const maxDepth = 8;

const sentence = { type: "string", minLength: 1, maxLength: 300 };

/** The schema of a model's answer. Without a team it only classifies. */
export const answerSchema = (team: TeamDefinition | undefined): JsonObject => ({
  type: "object",
  properties: {
    type: { enum: briefTypes },
    complexity: { enum: complexities },
    parallelism: { enum: parallelisms },
    expertise: { type: "array", minItems: 1, maxItems: expertises.length, items: { enum: expertises } },
    risks: { type: "array", maxItems: 10, items: sentence },
    confidence: { type: "number", minimum: 0, maximum: 1 },
    reason: sentence,
    ...(team !== undefined && planSchema(team)),
  },
  required: ["type", "complexity", "parallelism", "expertise", "risks", "confidence", "reason"],
  additionalProperties: false,
});

/** A classification, or the reason why the answer is not one. */
export function readAnswer(text: string, team?: TeamDefinition): Classified | string {
  const value = readJson(text);
  if (typeof value === "string") return value;
  const [problem] = validateJson(answerSchema(team), value);
  if (problem !== undefined) return oneLine(`it does not fit: ${showProblem(problem)}`);
  const { reason, ...answered } = value as unknown as Classification &
    ModelPlan & { readonly reason: string };
  const unfit = team === undefined ? undefined : planProblem(answered, team);
  if (unfit !== undefined) return oneLine(`it cannot be followed: ${unfit}`);
  const classification: Classification = {
    type: answered.type,
    complexity: answered.complexity,
    parallelism: answered.parallelism,
    expertise: expertises.filter((name) => answered.expertise.includes(name)),
    risks: [...new Set(answered.risks.map(oneLine))],
    confidence: Math.round(answered.confidence * 100) / 100,
  };
  return { classification, reason: oneLine(reason), rejected: [], plan: planIn(answered) };
}

/** Text from outside, for people. */
function planIn({ blueprint, personas, deliverables }: ModelPlan): ModelPlan {
  const inOneLine = <T extends { readonly reason: string }>(one: T): T => ({
    ...one,
    reason: oneLine(one.reason),
  });
  return {
    ...(blueprint !== undefined && { blueprint: inOneLine(blueprint) }),
    ...(personas !== undefined && { personas: personas.map(inOneLine) }),
    ...(deliverables !== undefined && { deliverables }),
  };
}

/** The object itself. Models add code fences or a sentence before it, against the instructions. */
function readJson(text: string): JsonObject | string {
  const [start, end] = [text.indexOf("{"), text.lastIndexOf("}")];
  if (start === -1 || end < start) return "it is not a JSON object";
  let value: Json;
  try {
    value = parseJson(text.slice(start, end + 1), {
      what: "it",
      maxBytes: maxAnswerBytes,
      maxDepth,
      refuseProto: true,
    });
  } catch (error) {
    if (!MaestroError.is(error)) throw error;
    return oneLine(error.message);
  }
  return isJsonObject(value) ? value : "it is not a JSON object";
}

const longest = 300;

/** Text of a model for people: one line, without control characters and secrets. */
export function oneLine(text: string): string {
  const plain = redact(text)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  return plain.length > longest ? `${plain.slice(0, longest)}…` : plain;
}
