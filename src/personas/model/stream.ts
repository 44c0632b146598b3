import { type Answer, responseOf, withTextData } from "./answer.ts";
import type { AnswerErrors } from "./bad-answer.ts";
import type { Content, GenerateResult, StreamPart } from "./sdk-types.ts";

type TextContent = Extract<Content, { type: "text" | "reasoning" }>;
type Open = { -readonly [Key in keyof TextContent]: TextContent[Key] };

export interface Watching {
  /** A part came. */
  readonly onPart?: (part: StreamPart) => void;
  readonly onText?: (delta: string) => void;
  /** More than this is not an answer but an attack or a defect. */
  readonly maxBytes: number;
  readonly errors: AnswerErrors;
}

/** Reads a stream to its end and puts the answer together as the SDK itself would. */
export async function collectStream(stream: ReadableStream<StreamPart>, watching: Watching): Promise<Answer> {
  const collector = new Collector(watching);
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      collector.add(value);
      watching.onPart?.(value);
    }
  } catch (error) {
    // Stop the source: its reader is gone.
    reader.cancel(error).catch(() => {});
    throw error;
  }
  return collector.finish();
}

class Collector {
  readonly #watching: Watching;
  readonly #content: Content[] = [];
  readonly #open = new Map<string, Open>();
  #warnings: GenerateResult["warnings"] = [];
  #response: Answer["response"];
  #finish: Extract<StreamPart, { type: "finish" }> | undefined;
  #bytes = 0;

  constructor(watching: Watching) {
    this.#watching = watching;
  }

  add(part: StreamPart): void {
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        return this.#start(part);
      case "text-delta":
      case "reasoning-delta":
        return this.#delta(part);
      case "text-end":
      case "reasoning-end":
        return this.#end(part);
      case "tool-input-delta":
        return this.#count(part.delta);
      case "stream-start":
        this.#warnings = part.warnings;
        return;
      case "response-metadata":
        this.#response = { ...this.#response, ...responseOf(part) };
        return;
      case "finish":
        this.#finish = part;
        return;
      case "error":
        throw this.#watching.errors.reported(part.error);
      case "tool-input-start":
      case "tool-input-end":
      case "ping":
      case "raw":
        return;
      case "tool-call":
        this.#count(part.input);
        this.#content.push(part);
        return;
      case "custom":
      case "file":
      case "reasoning-file":
      case "source":
      case "tool-approval-request":
      case "tool-result":
        this.#content.push(withTextData(part));
    }
  }

  finish(): Answer {
    if (this.#finish === undefined)
      throw this.#watching.errors.broken("the stream ended before the answer did");
    const { finishReason, usage, providerMetadata } = this.#finish;
    return {
      content: this.#content,
      finishReason,
      usage,
      warnings: this.#warnings,
      ...(providerMetadata !== undefined && { providerMetadata }),
      ...(this.#response !== undefined && { response: this.#response }),
    };
  }

  #start(part: Extract<StreamPart, { type: "text-start" | "reasoning-start" }>): void {
    const block: Open = { type: part.type === "text-start" ? "text" : "reasoning", text: "" };
    if (part.providerMetadata !== undefined) block.providerMetadata = part.providerMetadata;
    this.#open.set(keyOf(part), block);
    this.#content.push(block);
  }

  #delta(part: Extract<StreamPart, { type: "text-delta" | "reasoning-delta" }>): void {
    const block = this.#open.get(keyOf(part));
    if (block === undefined)
      throw this.#watching.errors.broken("the stream has text for a block that was never begun");
    this.#count(part.delta);
    block.text += part.delta;
    if (part.providerMetadata !== undefined) block.providerMetadata = part.providerMetadata;
    if (part.type === "text-delta" && part.delta !== "") this.#watching.onText?.(part.delta);
  }

  #end(part: Extract<StreamPart, { type: "text-end" | "reasoning-end" }>): void {
    const block = this.#open.get(keyOf(part));
    if (block === undefined) return;
    this.#open.delete(keyOf(part));
    if (part.providerMetadata !== undefined) block.providerMetadata = part.providerMetadata;
    if (part.type === "text-end" && part.citations !== undefined && block.type === "text") {
      (block as { citations?: typeof part.citations }).citations = part.citations;
    }
  }

  #count(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    const { maxBytes } = this.#watching;
    if (this.#bytes > maxBytes)
      throw this.#watching.errors.broken(`the answer passed ${maxBytes} bytes and had no end`);
  }
}

const keyOf = ({ type, id }: { readonly type: string; readonly id: string }): string =>
  `${type.slice(0, type.indexOf("-"))} ${id}`;

/**
 * Passes a stream on while it is recorded. From the first part that the consumer would act upon, every part is held until
 * the record is committed: the order stays, and no action rests on an answer that a crash would lose.
 */
export class LiveStream {
  readonly #gone = new AbortController();
  readonly #begun = Promise.withResolvers<void>();
  readonly #stream: ReadableStream<StreamPart>;
  readonly #held: StreamPart[] = [];
  #controller: ReadableStreamDefaultController<StreamPart> | undefined;
  #started = false;
  #closed = false;

  constructor() {
    this.#stream = new ReadableStream<StreamPart>({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: (reason) => {
        this.#closed = true;
        this.#gone.abort(reason);
      },
    });
  }

  /** Aborted when the consumer cancels. */
  get consumerGone(): AbortSignal {
    return this.#gone.signal;
  }

  /** A call that fails before its first part is an error of the call, not of the stream. */
  async begun(): Promise<ReadableStream<StreamPart>> {
    await this.#begun.promise;
    return this.#stream;
  }

  add(part: StreamPart): void {
    if (part.type === "ping" || part.type === "raw" || part.type.startsWith("tool-input-")) return;
    if (this.#held.length > 0 || !isOnlyWatched(part)) this.#held.push(part);
    else this.#put(part);
  }

  /** The answer is recorded. If the call was replayed, or no part was passed on, every part comes from the record. */
  end(recorded: readonly StreamPart[]): void {
    for (const part of this.#started ? this.#asRecorded(recorded) : recorded) this.#put(part);
    if (!this.#closed) this.#controller?.close();
    this.#closed = true;
  }

  fail(error: unknown): void {
    if (!this.#started) return this.#begun.reject(error);
    if (!this.#closed) this.#controller?.error(error);
    this.#closed = true;
  }

  /** Tool calls and the end as they were recorded: their ids may have been made unique. */
  #asRecorded(recorded: readonly StreamPart[]): StreamPart[] {
    const calls = recorded.filter(({ type }) => type === "tool-call");
    const finish = recorded.find(({ type }) => type === "finish");
    return this.#held.map((part) => {
      if (part.type === "tool-call") return calls.shift() ?? part;
      return part.type === "finish" ? (finish ?? part) : part;
    });
  }

  #put(part: StreamPart): void {
    this.#started = true;
    this.#begun.resolve();
    if (!this.#closed) this.#controller?.enqueue(part);
  }
}

const onlyWatched: ReadonlySet<StreamPart["type"]> = new Set([
  "stream-start",
  "response-metadata",
  "text-start",
  "text-delta",
  "text-end",
  "reasoning-start",
  "reasoning-delta",
  "reasoning-end",
  "custom",
  "source",
]);

const isOnlyWatched = ({ type }: StreamPart): boolean => onlyWatched.has(type);
