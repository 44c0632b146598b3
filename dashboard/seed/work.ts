import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LanguageModel } from "ai";
import { durableModel, type PersonaContext } from "../../src/index.ts";

/** Waits for as long as a piece of work takes. The server's own copy of a team does not wait. */
export type Pace = (ms: number, signal: AbortSignal) => Promise<void>;

export const atOnce: Pace = () => Promise.resolve();

export const secondMs = 1_000;
export const minuteMs = 60_000;

export interface Question {
  readonly model?: string;
  readonly input: number;
  readonly output: number;
  readonly cached?: number;
  readonly tookMs?: number;
}

type OwnModel = Exclude<LanguageModel, string>;

/** Calls a model that answers `text` and reports the tokens of `question`: a priced call without a network. */
export async function ask(
  context: PersonaContext,
  pace: Pace,
  text: string,
  question: Question,
): Promise<string> {
  const model = durableModel(answering(text, question, pace), context);
  await model.doGenerate({
    prompt: [{ role: "user", content: [{ type: "text", text: `${context.brief}\n\n${text}` }] }],
    maxOutputTokens: question.output,
  });
  return text;
}

function answering(
  text: string,
  { input, output, cached = 0, tookMs = 20_000, ...question }: Question,
  pace: Pace,
  lastSignal = "",
) {
  const [provider = "", modelId = ""] = (question.model ?? "anthropic/claude-sonnet-4-5").split("/");
  const usage = {
    inputTokens: { total: input, noCache: input - cached, cacheRead: cached, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
  const finishReason = { unified: "stop" as const, raw: "stop" };
  return {
    specificationVersion: "v4",
    provider,
    modelId,
    supportedUrls: {},
    doGenerate: async ({ abortSignal = new AbortController().signal }) => {
      await pace(tookMs, abortSignal);
      return { content: [{ type: "text", text }], finishReason, usage, warnings: [] };
    },
    doStream: async ({ abortSignal }) => ({
      stream: ReadableStream.from(slowly(text, lastSignal, { finishReason, usage }, abortSignal)),
    }),
  } satisfies OwnModel;
}

/** Streams `text` again and again until the signal `name` arrives. */
export async function tell(context: PersonaContext, name: string, text: string): Promise<void> {
  const question = { input: 18_000, output: 2_000 };
  const model = durableModel(answering(text, question, atOnce, name), context);
  const { stream } = (await model.doStream({
    prompt: [{ role: "user", content: [{ type: "text", text: context.brief }] }],
    maxOutputTokens: 4_000,
  })) as { readonly stream: ReadableStream<unknown> };
  for await (const _part of stream) continue;
}

async function* slowly(text: string, lastSignal: string, end: object, signal: AbortSignal | undefined) {
  const words = text.split(/(?<= )/);
  yield { type: "stream-start" as const, warnings: [] };
  yield { type: "text-start" as const, id: "0" };
  for (let index = 0; index === 0 || !hasArrived(lastSignal); index += 1) {
    yield { type: "text-delta" as const, id: "0", delta: words[index % words.length] ?? "" };
    await sleep(150, undefined, { ...(signal && { signal }) });
  }
  yield { type: "text-end" as const, id: "0" };
  yield { type: "finish" as const, ...end } as never;
}

/** A signal is a file that a test creates in the folder SEED_SIGNALS. */
const hasArrived = (name: string): boolean => {
  const folder = process.env["SEED_SIGNALS"];
  return folder !== undefined && existsSync(join(folder, name));
};

export async function untilSignal(name: string, signal: AbortSignal): Promise<void> {
  while (!hasArrived(name)) await sleep(100, undefined, { signal });
}
