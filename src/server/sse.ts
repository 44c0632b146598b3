import type { Position } from "../domain/cursor.ts";
import type { StreamEvents } from "./schemas/events.ts";

/** Bytes that may wait for a slow reader, besides the operating system's buffers. */
const mostWaitingBytes = 2 * 1024 * 1024;
/** A replay continues below this mark, so that a long history is not read faster than it is sent. */
const fewWaitingBytes = 64 * 1024;
/** Live text is dropped before facts. */
const mostWaitingForTextBytes = 64 * 1024;
/** A reader that takes nothing for this long during a replay is dropped. */
const patienceMs = 30_000;
const beatEveryMs = 15_000;

export type CloseReason = "slow" | "gone" | "ended";

/** One event on the wire. JSON has no raw line breaks, so nothing in the data can end the event. */
export function frame(event: keyof StreamEvents | "journal", data: unknown, id?: number | Position): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

const encoder = new TextEncoder();

interface SentEvent<Id> {
  readonly id: Id;
  readonly text: string;
}

/** Encoded once for all readers. */
export class EventBatch<Id extends number | Position> {
  readonly #events: readonly SentEvent<Id>[];
  readonly #compare: (one: Id, other: Id) => number;
  #bytes: Uint8Array | undefined;

  /** Ordered by id. */
  constructor(events: readonly SentEvent<Id>[], compare: (one: Id, other: Id) => number) {
    this.#events = events;
    this.#compare = compare;
  }

  get last(): Id | undefined {
    return this.#events.at(-1)?.id;
  }

  /** The events after an id. Usually all of them, so that the encoded bytes are shared. */
  after(sent: Id): Uint8Array | undefined {
    const isLater = ({ id }: SentEvent<Id>): boolean => this.#compare(id, sent) > 0;
    const [first, last] = [this.#events.at(0), this.#events.at(-1)];
    if (first === undefined || last === undefined || !isLater(last)) return undefined;
    if (isLater(first)) {
      this.#bytes ??= encode(this.#events);
      return this.#bytes;
    }
    return encode(this.#events.filter(isLater));
  }
}

const encode = (events: readonly { readonly text: string }[]): Uint8Array =>
  encoder.encode(events.map(({ text }) => text).join(""));

/**
 * One reader of server-sent events. Writers never wait for it: a slow reader is dropped and continues after it
 * reconnects.
 */
export class SseChannel {
  readonly #waiting: Uint8Array[] = [];
  readonly #onClose: (reason: CloseReason) => void;
  #waitingBytes = 0;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Resolves when the buffer has room again or the reader has left. */
  #drained: (() => void) | undefined;
  #isWanted = false;
  #isClosed = false;
  readonly #beat: NodeJS.Timeout;
  readonly stream: ReadableStream<Uint8Array>;

  constructor(onClose: (reason: CloseReason) => void) {
    this.#onClose = onClose;
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          this.#isWanted = true;
          this.#give();
        },
        cancel: () => this.#close("gone"),
      },
      { highWaterMark: 0 },
    );
    this.#beat = setInterval(() => this.send(": still here\n\n"), beatEveryMs).unref();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(given: string | Uint8Array): void {
    if (this.#isClosed) return;
    const bytes = typeof given === "string" ? encoder.encode(given) : given;
    if (this.#waitingBytes + bytes.byteLength > mostWaitingBytes && this.#waiting.length > 0)
      return this.#close("slow");
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.byteLength;
    this.#give();
  }

  /** Sends only while the buffer has plenty of room. */
  sendIfIdle(text: string): void {
    if (this.#waitingBytes < mostWaitingForTextBytes) this.send(text);
  }

  /** False if the reader has left or takes nothing. */
  async drained(): Promise<boolean> {
    if (!this.#isClosed && this.#waitingBytes >= fewWaitingBytes) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#drained = resolve;
      const timer = setTimeout(() => this.#close("slow"), patienceMs).unref();
      await promise;
      clearTimeout(timer);
    }
    return !this.#isClosed;
  }

  end(): void {
    this.#close("ended");
  }

  /** The stream pulls one chunk at a time, so that waiting bytes are counted here and not hidden in its queue. */
  #give(): void {
    if (!this.#isWanted || this.#isClosed) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#isWanted = false;
    this.#waitingBytes -= next.byteLength;
    this.#controller?.enqueue(next);
    if (this.#waitingBytes < fewWaitingBytes) this.#release();
  }

  #release(): void {
    this.#drained?.();
    this.#drained = undefined;
  }

  #close(reason: CloseReason): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#beat);
    this.#waiting.length = 0;
    this.#waitingBytes = 0;
    this.#release();
    if (reason !== "gone") this.#controller?.close();
    this.#onClose(reason);
  }
}
