import type { LanguageModel, LanguageModelMiddleware } from "ai";

type WrapGenerate = NonNullable<LanguageModelMiddleware["wrapGenerate"]>;
type WrapStream = NonNullable<LanguageModelMiddleware["wrapStream"]>;

/** A language model of the AI SDK, in the version of the specification that we call. */
export type Model = Parameters<WrapGenerate>[0]["model"];

/** Any language model object; never a bare string, which would go to a hosted gateway. */
export type AnyModel = Exclude<LanguageModel, string>;

export type Middleware = LanguageModelMiddleware;
export type CallOptions = Parameters<WrapGenerate>[0]["params"];
export type GenerateResult = Awaited<ReturnType<WrapGenerate>>;
type StreamResult = Awaited<ReturnType<WrapStream>>;
export type StreamPart = StreamResult["stream"] extends ReadableStream<infer Part> ? Part : never;
export type Content = GenerateResult["content"][number];
export type Usage = GenerateResult["usage"];
export type Prompt = CallOptions["prompt"];
export type Message = Prompt[number];
