import { type Connection, reconnectDelayMs } from "./reconnect.ts";
import type { StreamEvents } from "./types.ts";

export type StreamEvent = {
  [Name in keyof StreamEvents]: { readonly event: Name; readonly data: StreamEvents[Name] };
}[keyof StreamEvents];

const eventNames = [
  "hello",
  "session",
  "breaker",
  "status",
  "entry",
  "change",
  "text",
  "step",
] as const satisfies readonly (keyof StreamEvents)[];

/** The part of EventSource that is used here. */
export interface Source {
  addEventListener(
    name: string,
    listener: (event: { readonly data: string; readonly lastEventId: string }) => void,
  ): void;
  close(): void;
}

export interface StreamEnvironment {
  readonly open: (url: string) => Source;
  readonly now: () => number;
  readonly setTimer: (run: () => void, delayMs: number) => unknown;
  readonly clearTimer: (timer: unknown) => void;
  /** Runs once before the next frame is drawn. */
  readonly nextFrame: (run: () => void) => void;
  /** A refused stream looks like a lost one. Only a request distinguishes them. */
  readonly isSignedOut: () => Promise<boolean>;
}

export interface StreamListener {
  /** Everything since the last frame, in order. */
  readonly onEvents: (events: readonly StreamEvent[]) => void;
  readonly onConnection: (connection: Connection) => void;
  /** The server cannot replay the missed events: read everything again. */
  readonly onReset: () => void;
}

/** One connection that reconnects by itself, and a queue that is flushed once a frame. */
export class EventStream {
  readonly #environment: StreamEnvironment;
  readonly #listener: StreamListener;
  #path = "";
  #source: Source | undefined;
  #timer: unknown;
  #lastId: string | undefined;
  #instance: string | undefined;
  #lost: { lostAt: number; failures: number; signedOut: boolean } | undefined;
  #connected = false;
  #queue: StreamEvent[] = [];
  #flushing = false;

  constructor(environment: StreamEnvironment, listener: StreamListener) {
    this.#environment = environment;
    this.#listener = listener;
  }

  /** Another path starts after `after`; the same path with other parameters continues from its last event. */
  follow(path: string, after: string | undefined): void {
    if (path === this.#path) return;
    if (withoutQuery(path) !== withoutQuery(this.#path)) {
      this.#lastId = after;
      this.#connected = false;
      this.#queue = [];
    }
    this.#path = path;
    this.#close();
    this.#open();
  }

  /** Closes the connection of a hidden tab; `wake` reconnects without a gap. */
  rest(): void {
    if (this.#path === "") return;
    this.#close();
    this.#lost = undefined;
    this.#listener.onConnection({ kind: "resting" });
  }

  wake(): void {
    if (this.#path !== "" && this.#source === undefined) this.#open();
  }

  /** "Try now" */
  retry(): void {
    this.#close();
    this.#open();
  }

  stop(): void {
    this.#close();
    this.#path = "";
  }

  #open(): void {
    this.#clearTimer();
    const lost = this.#lost;
    if (lost !== undefined) this.#listener.onConnection({ kind: "lost", ...lost, retryAt: null });
    // Only the first time, because following another persona loses no events.
    else if (this.#instance === undefined) this.#listener.onConnection({ kind: "connecting" });
    const separator = this.#path.includes("?") ? "&" : "?";
    const after = this.#lastId === undefined ? "" : `${separator}after=${encodeURIComponent(this.#lastId)}`;
    const source = this.#environment.open(this.#path + after);
    this.#source = source;
    for (const name of eventNames) {
      source.addEventListener(name, ({ data, lastEventId }) => {
        if (this.#source === source) this.#receive(name, data, lastEventId);
      });
    }
    source.addEventListener("error", () => {
      if (this.#source === source) this.#fail();
    });
  }

  #receive(name: keyof StreamEvents, data: string, lastEventId: string): void {
    let event: StreamEvent;
    try {
      event = { event: name, data: JSON.parse(data) };
    } catch {
      return;
    }
    if (event.event === "hello") this.#greet(event.data);
    if (lastEventId !== "") this.#lastId = lastEventId;
    this.#queue.push(event);
    if (this.#flushing) return;
    this.#flushing = true;
    this.#environment.nextFrame(() => this.#flush());
  }

  #greet({ instance, replay }: StreamEvents["hello"]): void {
    const restarted = this.#instance !== undefined && this.#instance !== instance;
    const lost = this.#lost;
    this.#instance = instance;
    this.#lost = undefined;
    const first = !this.#connected;
    this.#connected = true;
    // If the server does not know the position, reading everything again is the only safe way.
    const gap = !first && (replay === null || this.#lastId === undefined);
    this.#listener.onConnection(
      lost === undefined
        ? { kind: "live" }
        : {
            kind: "back",
            at: this.#environment.now(),
            lostAt: lost.lostAt,
            caughtUp: gap ? null : replay,
            restarted,
          },
    );
    if (gap || restarted) this.#listener.onReset();
  }

  #flush(): void {
    this.#flushing = false;
    const events = this.#queue;
    this.#queue = [];
    if (events.length > 0) this.#listener.onEvents(events);
  }

  #fail(): void {
    this.#close();
    const now = this.#environment.now();
    const failures = (this.#lost?.failures ?? 0) + 1;
    const lostAt = this.#lost?.lostAt ?? now;
    const lost = { lostAt, failures, signedOut: this.#lost?.signedOut ?? false };
    this.#lost = lost;
    const delayMs = reconnectDelayMs(failures);
    const retryAt = now + delayMs;
    this.#listener.onConnection({ kind: "lost", ...lost, retryAt });
    this.#timer = this.#environment.setTimer(() => this.#open(), delayMs);
    void this.#environment.isSignedOut().then((signedOut) => {
      if (this.#lost !== lost || lost.signedOut === signedOut) return;
      lost.signedOut = signedOut;
      this.#listener.onConnection({ kind: "lost", ...lost, retryAt });
    });
  }

  #close(): void {
    this.#clearTimer();
    this.#source?.close();
    this.#source = undefined;
  }

  #clearTimer(): void {
    if (this.#timer !== undefined) this.#environment.clearTimer(this.#timer);
    this.#timer = undefined;
  }
}

const withoutQuery = (path: string): string => path.split("?")[0] ?? path;
