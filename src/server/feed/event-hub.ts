import type { Maestro } from "../../api/open.ts";
import type { Clock } from "../../domain/clock.ts";
import type { Position } from "../../domain/cursor.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isoTime } from "../../domain/iso-time.ts";
import type { SessionEvent } from "../../index.ts";
import { HttpProblem } from "../problem.ts";
import type { StreamEvents } from "../schemas/events.ts";
import type { SessionPages } from "../session-pages.ts";
import type { SessionRows } from "../session-rows.ts";
import { type CloseReason, frame, SseChannel } from "../sse.ts";
import { AllSessionsStream } from "./all-sessions-stream.ts";
import { JournalFollower } from "./journal-follower.ts";
import { ServerNews } from "./server-news.ts";
import type { SessionBook } from "./session-book.ts";
import { SessionStream } from "./session-stream.ts";

export interface HubParts {
  readonly maestro: Maestro;
  readonly clock: Clock;
  readonly book: SessionBook;
  readonly rows: SessionRows;
  readonly pages: SessionPages;
  readonly instance: string;
  readonly readBreakers: () => Promise<readonly StreamEvents["breaker"][]>;
  readonly readStatus: () => Promise<StreamEvents["status"]>;
  readonly mostStreams: number;
  readonly onClose: (reason: CloseReason) => void;
  readonly report: (notice: string) => void;
}

/** Watchers and their streams. Without watchers the journal is not read. */
export class EventHub {
  readonly #parts: HubParts;
  readonly #channels = new Set<SseChannel>();
  readonly #streams = new Map<SessionId, SessionStream>();
  readonly #all: AllSessionsStream;
  readonly #follower: JournalFollower;
  readonly #news: ServerNews;
  #isClosed = false;

  constructor(parts: HubParts) {
    this.#parts = parts;
    this.#all = new AllSessionsStream(parts);
    this.#news = new ServerNews({
      ...parts,
      tell: (text) => {
        for (const channel of this.#channels) channel.send(text);
      },
    });
    this.#follower = new JournalFollower({
      maestro: parts.maestro,
      report: parts.report,
      onChanges: async (changes) => {
        for (const id of new Set(changes.map((change) => change.id))) await this.#advance(id);
        this.#all.told(changes);
      },
    });
  }

  get streams(): number {
    return this.#channels.size;
  }

  /** Live events of this process. */
  hear(event: SessionEvent): void {
    if (this.#channels.size === 0) return;
    if (event.kind === "text")
      this.#streams.get(event.sessionId as SessionId)?.hearText(event.persona, event.delta);
    else this.#follower.poke();
  }

  /** `after` undefined: start at the first row. */
  async watchSession(
    idOrKey: string,
    options: { readonly after: number | undefined; readonly text: string | undefined },
    onSlow: () => void,
  ): Promise<ReadableStream<Uint8Array>> {
    const { id } = await this.#parts.maestro.find(idOrKey);
    const channel = await this.#open((channel) => this.#leave(id, channel), onSlow);
    this.#begin(channel, async () => {
      const feed = await this.#parts.book.open(id);
      let stream = this.#streams.get(id);
      if (stream === undefined) {
        stream = new SessionStream(feed, this.#parts);
        this.#streams.set(id, stream);
      }
      stream.join(channel);
      // New rows reach this stream only from here on, and a row written since the feed was opened may be the last.
      await stream.feed.advance();
      const { head } = stream.feed;
      // A seq beyond the journal belongs to another journal: an earlier session with this key, or a lost disk.
      const isKnown = (options.after ?? 0) <= head;
      const after = isKnown ? (options.after ?? 0) : 0;
      this.#greet(channel, isKnown ? head - after : null);
      await stream.add(channel, { after, text: options.text });
      if (channel.isClosed) this.#leave(id, channel);
    });
    return channel.stream;
  }

  /** `after` undefined: only new events. */
  async watchAll(
    options: { readonly after: Position | undefined; readonly journal: boolean },
    onSlow: () => void,
  ): Promise<ReadableStream<Uint8Array>> {
    const channel = await this.#open((channel) => this.#all.remove(channel), onSlow);
    this.#begin(channel, async () => {
      const end = await this.#parts.maestro.position();
      const missed = await this.#all.missedSince(options.after ?? end, options);
      this.#greet(channel, missed);
      await this.#all.add(channel, { ...options, after: missed === null ? end : (options.after ?? end) });
      if (channel.isClosed) this.#all.remove(channel);
    });
    return channel.stream;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const channel of this.#channels) channel.end();
    this.#news.stop();
    this.#all.stop();
    await this.#follower.stop();
  }

  async #open(leave: (channel: SseChannel) => void, onSlow: () => void): Promise<SseChannel> {
    if (this.#isClosed)
      throw new HttpProblem("SHUTTING_DOWN", "The server is stopping.", "Try again in a moment.");
    if (this.#channels.size >= this.#parts.mostStreams)
      throw new HttpProblem(
        "TOO_MANY_STREAMS",
        `There are ${this.#channels.size} streams of events already.`,
      );
    const channel = new SseChannel((reason) => {
      this.#channels.delete(channel);
      leave(channel);
      if (reason === "slow") onSlow();
      this.#parts.onClose(reason);
      if (this.#channels.size > 0 || this.#isClosed) return;
      this.#news.stop();
      void this.#follower.stop();
    });
    this.#channels.add(channel);
    try {
      await this.#follower.start();
    } catch (error) {
      channel.end();
      throw error;
    }
    this.#news.start();
    return channel;
  }

  /** Runs in the background, because the response starts before the first event. */
  #begin(channel: SseChannel, fill: () => Promise<void>): void {
    fill().catch((error: unknown) => {
      this.#parts.report(`A stream of events ended: ${String(error)}`);
      channel.end();
    });
  }

  #greet(channel: SseChannel, replay: number | null): void {
    const { clock, instance } = this.#parts;
    channel.send(
      frame("hello", { now: isoTime(clock.now()), instance, replay } satisfies StreamEvents["hello"]),
    );
  }

  async #advance(id: SessionId): Promise<void> {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    try {
      await stream.feed.advance();
    } catch (error) {
      this.#parts.report(`The events of session ${id} cannot be read: ${String(error)}`);
    }
  }

  #leave(id: SessionId, channel: SseChannel): void {
    const stream = this.#streams.get(id);
    stream?.remove(channel);
    if (stream?.isIdle !== true) return;
    stream.stop();
    this.#streams.delete(id);
  }
}
