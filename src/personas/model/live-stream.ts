import type { StreamPart } from "./sdk-types.ts";

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
