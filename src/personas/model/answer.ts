import type { StepResult, ToolSet } from "ai";
import type { Json } from "../../domain/json.ts";
import { namedTools } from "../tools/tool-table.ts";
import type { Content, GenerateResult, StreamPart } from "./sdk-types.ts";

/** A model's answer as it is recorded: what a replay needs, as plain JSON; no bodies, headers or requests. */
export interface Answer {
  readonly content: readonly Content[];
  readonly finishReason: GenerateResult["finishReason"];
  readonly usage: GenerateResult["usage"];
  readonly warnings: GenerateResult["warnings"];
  readonly providerMetadata?: GenerateResult["providerMetadata"];
  readonly structuredOutputText?: string;
  readonly response?: { readonly id?: string; readonly modelId?: string; readonly timestamp?: string };
}

/** From the result of a call that was not streamed. */
export function answerOf(result: GenerateResult): Answer {
  const { content, finishReason, usage, warnings, providerMetadata, structuredOutputText, response } = result;
  return {
    content: content.map(withTextData),
    finishReason,
    usage,
    warnings,
    ...(providerMetadata !== undefined && { providerMetadata }),
    ...(structuredOutputText !== undefined && { structuredOutputText }),
    ...(response !== undefined && { response: responseOf(response) }),
  };
}

export function responseOf({
  id,
  modelId,
  timestamp,
}: NonNullable<GenerateResult["response"]>): NonNullable<Answer["response"]> {
  return {
    ...(id !== undefined && { id }),
    ...(modelId !== undefined && { modelId }),
    ...(isDate(timestamp) && { timestamp: timestamp.toISOString() }),
  };
}

/** A server's word for its time may be no time at all. */
const isDate = (value: Date | undefined): value is Date =>
  value !== undefined && !Number.isNaN(value.getTime());

/** The same for a call that was just made and for one that was recorded. */
export function toGenerateResult(answer: Answer): GenerateResult {
  const { content, finishReason, usage, warnings, providerMetadata, structuredOutputText } = answer;
  const response = reviveResponse(answer);
  return {
    content: content.map(withUrl),
    // Members that were undefined went missing in the record.
    finishReason: { unified: finishReason.unified, raw: finishReason.raw },
    usage: reviveUsage(usage),
    warnings,
    ...(providerMetadata !== undefined && { providerMetadata }),
    ...(structuredOutputText !== undefined && { structuredOutputText }),
    ...(response !== undefined && { response }),
  };
}

/** Everything a stream of this answer consists of, without the pace at which it once came. */
export function toStreamParts(answer: Answer): StreamPart[] {
  const { warnings, finishReason, usage, providerMetadata } = toGenerateResult(answer);
  const response = reviveResponse(answer);
  return [
    { type: "stream-start", warnings },
    ...(response === undefined ? [] : [{ type: "response-metadata" as const, ...response }]),
    ...answer.content.flatMap((part, index) => contentParts(withUrl(part), `${index}`)),
    { type: "finish", finishReason, usage, ...(providerMetadata !== undefined && { providerMetadata }) },
  ];
}

function contentParts(part: Content, id: string): StreamPart[] {
  if (part.type !== "text" && part.type !== "reasoning") return [part];
  const { type, text, providerMetadata } = part;
  const metadata = providerMetadata === undefined ? {} : { providerMetadata };
  const citations = part.type === "text" && part.citations ? { citations: part.citations } : {};
  return [
    { type: `${type}-start`, id, ...metadata },
    { type: `${type}-delta`, id, delta: text },
    { type: `${type}-end`, id, ...metadata, ...citations },
  ];
}

function reviveResponse({ response }: Answer): NonNullable<GenerateResult["response"]> | undefined {
  if (response === undefined) return undefined;
  const { timestamp, ...rest } = response;
  return { ...rest, ...(timestamp !== undefined && { timestamp: new Date(timestamp) }) };
}

function reviveUsage({ inputTokens, outputTokens, raw }: Answer["usage"]): Answer["usage"] {
  return {
    inputTokens: {
      total: inputTokens.total,
      noCache: inputTokens.noCache,
      cacheRead: inputTokens.cacheRead,
      cacheWrite: inputTokens.cacheWrite,
    },
    outputTokens: { total: outputTokens.total, text: outputTokens.text, reasoning: outputTokens.reasoning },
    ...(raw !== undefined && { raw }),
  };
}

/** Bytes as base64, which the SDK reads as well. */
export function withTextData(part: Content): Content {
  if ((part.type !== "file" && part.type !== "reasoning-file") || part.data.type !== "data") return part;
  const { data } = part.data;
  if (typeof data === "string") return part;
  return { ...part, data: { type: "data", data: Buffer.from(data).toString("base64") } };
}

function withUrl(part: Content): Content {
  if ((part.type !== "file" && part.type !== "reasoning-file") || part.data.type !== "url") return part;
  return { ...part, data: { ...part.data, url: new URL(part.data.url) } };
}

export interface Decision {
  readonly decision: string;
  readonly reason: string;
  readonly rejected?: readonly string[];
}

/** The submission of a model, or the last message of an agent. */
export interface PersonaReturn {
  readonly summary: string;
  readonly outputs: Readonly<Record<string, Json>>;
  readonly decisions: readonly Decision[];
}

/** The calls of an answer that submit something; a wrong one was answered already. */
export function submitCalls({ toolCalls }: StepResult<ToolSet>): StepResult<ToolSet>["toolCalls"] {
  return toolCalls.filter(({ toolName, invalid }) => toolName === namedTools.submit && invalid !== true);
}

/** The submission in an answer, if there is one: of several the first. */
export function submissionOf(answer: StepResult<ToolSet>): PersonaReturn | undefined {
  const [call] = submitCalls(answer);
  if (call === undefined) return undefined;
  const { summary, outputs, decisions } = call.input as Partial<PersonaReturn>;
  return { summary: summary ?? "", outputs: outputs ?? {}, decisions: decisions ?? [] };
}
