import type { Clock } from "../../domain/clock.ts";
import { isStep } from "../../domain/journal-codec.ts";
import type { StreamEvents } from "../schemas/events.ts";
import type { SessionPages } from "../session-pages.ts";
import { EventBatch, frame, type SseChannel } from "../sse.ts";
import type { AskedTool } from "../views/asked-tools.ts";
import { stepBlocks } from "../views/step-block.ts";
import { LiveText } from "./live-text.ts";
import { SessionChanges, wholeChange } from "./session-changes.ts";
import type { FeedRow, SessionFeed } from "./session-feed.ts";

/** A page is not drawn more often. */
const betweenChangesMs = 250;

interface Watcher {
  readonly channel: SseChannel;
  /** The persona whose words it wants: "persona" or "phase/persona". */
  readonly text: string | undefined;
  /** The last row it was sent. */
  sent: number;
  /** What changed while the whole page was read for it: told after the page, which may be older. */
  waiting: string[] | undefined;
}

export interface StreamParts {
  readonly pages: SessionPages;
  readonly clock: Clock;
  readonly report: (notice: string) => void;
}

/** One session's events for all who watch it: described and written once, whoever reads them. */
export class SessionStream {
  readonly feed: SessionFeed;
  readonly #parts: StreamParts;
  /** Those who have caught up; the others are on their way here. */
  readonly #watchers = new Set<Watcher>();
  readonly #members = new Set<SseChannel>();
  readonly #changes = new SessionChanges();
  readonly #text = new LiveText((text) => this.#say(text));
  readonly #asked = new Map<number, AskedTool[]>();
  readonly #leaveFeed: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** Rows came that no look at the page has seen yet. */
  #isStale = false;
  /** Reading all files of a session for every step would be slow; they change when a phase does. */
  #hasNewFiles = true;

  constructor(feed: SessionFeed, parts: StreamParts) {
    this.feed = feed;
    this.#parts = parts;
    this.#leaveFeed = feed.listen((rows) => this.#told(rows));
  }

  get isIdle(): boolean {
    return this.#members.size === 0;
  }

  join(channel: SseChannel): void {
    this.#members.add(channel);
  }

  /** Sends what came after `after` and then what comes; every seq once. */
  async add(
    channel: SseChannel,
    options: { readonly after: number; readonly text: string | undefined },
  ): Promise<void> {
    const isBehind = options.after < this.feed.head;
    const watcher: Watcher = {
      channel,
      text: options.text,
      sent: options.after,
      waiting: isBehind ? [] : undefined,
    };
    while (watcher.sent < this.feed.head) {
      for await (const page of this.feed.replay(watcher.sent)) {
        sendBatch(watcher, batchOf(page));
        if (!(await channel.drained())) return;
      }
    }
    if (!this.#members.has(channel)) return;
    // Nothing was awaited since the last look at the head: no row can be between the replay and what comes.
    this.#watchers.add(watcher);
    if (!isBehind) return;
    channel.send(frame("change", wholeChange(await this.#parts.pages.view(this.feed))));
    for (const text of watcher.waiting ?? []) channel.send(text);
    watcher.waiting = undefined;
  }

  remove(channel: SseChannel): void {
    this.#members.delete(channel);
    for (const watcher of this.#watchers) if (watcher.channel === channel) this.#watchers.delete(watcher);
  }

  hearText(persona: string, delta: string): void {
    const isWanted = [...this.#watchers].some(({ text }) => text?.split("/").at(-1) === persona);
    if (isWanted) this.#text.hear(persona, delta, this.#parts.clock.now(), this.feed);
  }

  stop(): void {
    this.#leaveFeed();
    clearTimeout(this.#timer);
    this.#text.stop();
  }

  #told(rows: readonly FeedRow[]): void {
    const batch = batchOf(rows);
    for (const watcher of this.#watchers) sendBatch(watcher, batch);
    for (const row of rows) this.#tellStep(row);
    this.#isStale = true;
    this.#hasNewFiles ||= rows.some(({ row }) => row.kind.startsWith("phase."));
    this.#tellChangeSoon();
  }

  /** The recorded step takes the place of the words that were sent while it was made. */
  #tellStep({ row }: FeedRow): void {
    const place = isStep(row) ? this.feed.chronicle.trailOf(row.attempt)?.place : undefined;
    if (place === undefined || row.attempt === null) return;
    const { phase, persona } = place;
    if (row.kind === "step.model") this.#text.recorded(persona);
    const followers = [...this.#watchers].filter(({ text }) => isPlace(text, phase, persona));
    if (followers.length === 0) return;
    const asked = this.#asked.get(row.attempt) ?? [];
    this.#asked.set(row.attempt, asked);
    for (const block of stepBlocks(row, asked)) {
      const text = frame("step", { phase, persona, block } satisfies StreamEvents["step"]);
      for (const { channel } of followers) channel.send(text);
    }
  }

  #say(text: StreamEvents["text"]): void {
    const written = frame("text", text);
    for (const watcher of this.#watchers)
      if (isPlace(watcher.text, text.phase, text.persona)) watcher.channel.sendIfIdle(written);
  }

  #tellChangeSoon(): void {
    this.#timer ??= setTimeout(() => void this.#tellChange(), betweenChangesMs).unref();
  }

  async #tellChange(): Promise<void> {
    const withFiles = this.#hasNewFiles;
    this.#isStale = false;
    this.#hasNewFiles = false;
    try {
      const page = await this.#parts.pages.view(this.feed, { withFiles });
      const change = this.#changes.since(page, { withFiles });
      if (change !== undefined) {
        const text = frame("change", change);
        for (const { channel, waiting } of this.#watchers) {
          if (waiting === undefined) channel.send(text);
          else waiting.push(text);
        }
      }
    } catch (error) {
      this.#parts.report(`Session ${this.feed.id} cannot be shown: ${String(error)}`);
    } finally {
      this.#timer = undefined;
      // The page may have been read before the row that came meanwhile, and no other need come after it.
      if (this.#isStale && !this.isIdle) this.#tellChangeSoon();
    }
  }
}

function batchOf(rows: readonly FeedRow[]): EventBatch {
  return new EventBatch(
    rows.map(({ row, entry }) => ({ id: row.seq, text: frame("entry", entry, row.seq) })),
  );
}

function sendBatch(watcher: Watcher, batch: EventBatch): void {
  const bytes = batch.after(watcher.sent);
  if (bytes === undefined) return;
  watcher.channel.send(bytes);
  watcher.sent = batch.last ?? watcher.sent;
}

const isPlace = (text: string | undefined, phase: string, persona: string): boolean =>
  text === persona || text === `${phase}/${persona}`;
