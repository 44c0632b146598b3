import { type Clock, systemClock } from "../../domain/clock.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { usefulOutputTokens } from "../../domain/fit-output.ts";
import type { Json } from "../../domain/json.ts";
import { simulatedName } from "../../domain/simulated.ts";
import type { TokenUsage } from "../../domain/usage.ts";
import { answerCut, callAbandoned, type RunStep } from "../../journal/durable-step.ts";
import { type Answer, answerOf, toGenerateResult, toStreamParts } from "./answer.ts";
import { answerErrors, checkedAnswer, readingError } from "./bad-answer.ts";
import { onBytes } from "./bounded-fetch.ts";
import {
  type Call,
  type CallLimits,
  defaultCallLimits,
  defaultMaxOutputTokens,
  maxAnswerBytes,
  withinLimits,
} from "./call-limits.ts";
import { canonicalCall, type StoredBytes } from "./canonical-call.ts";
import { type InputCount, InputCounter } from "./count-input.ts";
import { lazyModel } from "./lazy-model.ts";
import { modelName } from "./model-object.ts";
import type { Pricing } from "./ports.ts";
import { cleanError, recognizeOverflow } from "./provider-error.ts";
import { thinkingTokens } from "./provider-table.ts";
import { withReadOptions } from "./read-options.ts";
import { roomForThoughts } from "./reasoning.ts";
import { recognizeRefusedTool } from "./refused-tool.ts";
import { ReportedUsage } from "./reported-usage.ts";
import type { AnyModel, CallOptions, Middleware, Model, StreamPart } from "./sdk-types.ts";
import { collectStream, LiveStream } from "./stream.ts";
import { readUsage, spendOf, usageOfFailure } from "./usage.ts";

/** The ports of a durable model. */
interface DurableModelContext {
  readonly runStep: RunStep;
  readonly signal?: AbortSignal;
  readonly pricing?: Pricing;
  /** For calls without a limit of their own: without one, no budget could be reserved. */
  readonly maxOutputTokens?: number;
  readonly limits?: Partial<CallLimits>;
  readonly clock?: Clock;
  /** Live text for people who watch; silent on a replay. */
  readonly onText?: (delta: string) => void;
  /** A part of the answer arrived, reasoning and tool arguments included: the call is alive. */
  readonly onProgress?: () => void;
  /** Wraps a call whose answer arrives as a whole: it is silent until then and has its own limit. */
  readonly during?: <T>(call: () => Promise<T>) => Promise<T>;
}

export interface DurableModelOptions extends DurableModelContext {
  /** Streams from the provider even if the caller wants the whole answer, so that silence is noticed. */
  readonly streamAlways?: boolean;
  /** Bytes that are artifacts of the session: the recorded call names them by their hash. */
  readonly stored?: StoredBytes;
  /** Tool calls get numbers in place of their providers' ids. */
  readonly numberToolCalls?: boolean;
  /** Receives warnings; without it the SDK prints them. */
  readonly onWarning?: (warning: Answer["warnings"][number]) => void;
}

/**
 * Any language model of the AI SDK, with journal, budget and breaker: each call is one durable step, and a call whose
 * answer was recorded is never made again.
 */
export function durableModel(model: AnyModel, context: DurableModelOptions): Model {
  if (typeof model !== "object" || model === null) {
    throw new InputInvalid("A durable model is made from a model object, not from its name.", {
      advice: 'Use a provider package, for instance openai("gpt-5").',
    });
  }
  const middleware = durableMiddleware(context);
  // The SDK takes a fifth of a second to load: not before the first call.
  return lazyModel(model, async () => (await import("ai")).wrapLanguageModel({ model, middleware }));
}

/** The same as middleware, for models that the caller wraps. */
function durableMiddleware(context: DurableModelOptions): Middleware {
  const calls = new DurableCalls(context);
  return {
    specificationVersion: "v4",
    transformParams: async ({ params }) => ({
      ...params,
      maxOutputTokens: params.maxOutputTokens ?? context.maxOutputTokens ?? defaultMaxOutputTokens,
    }),
    wrapGenerate: async ({ model, params }) => calls.generate(model, params),
    wrapStream: async ({ model, params }) => ({ stream: await calls.stream(model, params) }),
  };
}

/** `params`: those of the caller, with the output that the budgets leave. `onPart`: of an answer that is streamed. */
type Ask = (params: CallOptions, call: Call, onPart: (part: StreamPart) => void) => Promise<Answer>;

class DurableCalls {
  readonly #context: DurableModelOptions;
  readonly #counter = new InputCounter();

  constructor(context: DurableModelOptions) {
    this.#context = context;
  }

  async generate(model: Model, params: CallOptions) {
    const { streamAlways, onWarning } = this.#context;
    const streamed: Ask = (allowed, call, onPart) => this.#askStream(model, allowed, call, onPart);
    const during = this.#context.during ?? ((call) => call());
    const whole: Ask = async (allowed, { signal }) =>
      answerOf(await during(async () => model.doGenerate({ ...allowed, abortSignal: signal })));
    const result = toGenerateResult(await this.#step(model, params, streamAlways ? streamed : whole));
    if (onWarning === undefined) return result;
    for (const warning of result.warnings) onWarning(warning);
    return { ...result, warnings: [] };
  }

  /** Text is passed on as it arrives; tool calls only after the answer is recorded, because the caller acts upon them. */
  async stream(model: Model, params: CallOptions): Promise<ReadableStream<StreamPart>> {
    const live = new LiveStream();
    const signal = live.consumerGone;
    const ask: Ask = (allowed, call, onPart) =>
      this.#askStream(model, allowed, call, (part) => {
        onPart(part);
        live.add(part);
      });
    const recorded = this.#step(model, params, ask, signal);
    recorded.then(
      (answer) => live.end(toStreamParts(answer)),
      (error: unknown) => live.fail(error),
    );
    return live.begun();
  }

  async #askStream(
    model: Model,
    params: CallOptions,
    call: Call,
    onPart: (part: StreamPart) => void,
  ): Promise<Answer> {
    // Raw: what the provider has reported when the stream breaks is in no other part.
    const { stream } = await model.doStream({ ...params, abortSignal: call.signal, includeRawChunks: true });
    return collectStream(stream, {
      onPart: (part) => {
        call.alive();
        if (isOutput(part)) this.#context.onProgress?.();
        onPart(part);
      },
      onText: (delta) => this.#show(delta),
      maxBytes: maxAnswerBytes(params.maxOutputTokens ?? defaultMaxOutputTokens),
      errors: await answerErrors(),
    });
  }

  async #step(model: Model, params: CallOptions, ask: Ask, alsoStops?: AbortSignal): Promise<Answer> {
    const { runStep, pricing, clock = systemClock } = this.#context;
    const name = modelName(model);
    const input = canonicalCall(name, withReadOptions(model.provider, params), this.#context.stored);
    const signals = [this.#context.signal, params.abortSignal, alsoStops].filter(
      (signal) => signal !== undefined,
    );
    const count = this.#count(name, input);
    let outputSeen = false;
    let soFar = new ReportedUsage();
    let reported: TokenUsage | null | undefined;
    let began = 0;
    let firstMs: number | null = null;
    const usageOf = (error: unknown): TokenUsage | null =>
      reported ?? soFar.read(count.least) ?? (reported === null ? null : usageOfFailure(error, outputSeen));
    const answer = await runStep<Answer>({
      kind: "model",
      name,
      input,
      dependency: name,
      spend: await spendOf({
        model: name,
        input: count,
        maxOutputTokens: allowedOutput(params),
        leastOutputTokens: allowedOutput(params, usefulOutputTokens + roomForThoughts(params)),
        pricing,
        usageOfFailure: usageOf,
      }),
      timing: () => ({ ms: clock.now() - began, firstMs }),
      effect: async (allowed) => {
        // A failed probe is repeated: the usage of the call before it does not count for this one.
        outputSeen = false;
        soFar = new ReportedUsage();
        reported = undefined;
        const errors = await answerErrors();
        began = clock.now();
        firstMs = null;
        try {
          const found = await withinLimits(this.#limits(alsoStops !== undefined), clock, signals, (call) =>
            onBytes.run(call.alive, () =>
              ask(withOutput(params, allowed), call, (part) => {
                soFar.add(part);
                if (!isOutput(part)) return;
                outputSeen = true;
                firstMs ??= clock.now() - began;
              }),
            ),
          );
          reported = readUsage(found, count.least);
          if (allowed !== undefined && isCutAt(allowed, found, reported)) throw cutByBudget(allowed);
          return checkedAnswer(found, params.prompt, this.#context.numberToolCalls === true, errors);
        } catch (error) {
          this.#context.signal?.throwIfAborted();
          for (const signal of signals) if (signal.aborted) throw abandoned(signal.reason);
          const cleaned = recognizeOverflow(cleanError(readingError(error, errors)), name);
          throw recognizeRefusedTool(cleaned, name, params.tools);
        }
      },
    });
    this.#counter.learn(input, readUsage(answer, count.least));
    return answer;
  }

  /** The usage of the simulated model comes from its script. */
  #count(name: string, input: Json): InputCount {
    const count = this.#counter.count(input);
    return name === simulatedName ? { ...count, least: 1 } : count;
  }

  /** A callback for watchers must not break the call. */
  #show(delta: string): void {
    try {
      this.#context.onText?.(delta);
    } catch {
      // The record has the text.
    }
  }

  /** An answer that comes as a whole is silent until it is there. */
  #limits(streams: boolean): CallLimits {
    const limits = { ...defaultCallLimits, ...this.#context.limits };
    return streams || this.#context.streamAlways ? limits : { ...limits, silenceMs: limits.totalMs };
  }
}

/**
 * The caller gave the call up, which says nothing about the provider. A timeout is different: then the provider was too
 * slow.
 */
function abandoned(reason: unknown): unknown {
  const { name = "AbortError", message = "The call was aborted." } = reason instanceof Error ? reason : {};
  if (name === "TimeoutError") return reason;
  return Object.assign(new Error(message, { cause: reason }), { name, code: callAbandoned });
}

/** `most`: of the answer itself; thoughts come on top. */
function allowedOutput(options: CallOptions, most = Number.POSITIVE_INFINITY): number {
  return Math.min(options.maxOutputTokens ?? defaultMaxOutputTokens, most) + thinkingTokens(options);
}

const withOutput = (params: CallOptions, allowed: number | undefined): CallOptions =>
  allowed === undefined ? params : { ...params, maxOutputTokens: allowed - thinkingTokens(params) };

/** A provider that reports far fewer tokens has cut the answer at a limit of its own. */
const isCutAt = (allowed: number, { finishReason }: Answer, usage: TokenUsage | null): boolean =>
  finishReason.unified === "length" && (usage === null || usage.outputTokens >= 0.9 * allowed);

const cutByBudget = (allowed: number): Error =>
  Object.assign(new Error(`The answer was cut at ${allowed} tokens, all that the budget left.`), {
    code: answerCut,
  });

const isOutput = ({ type }: StreamPart): boolean =>
  type === "text-delta" || type === "reasoning-delta" || type === "tool-input-delta" || type === "tool-call";
