import type { Clock } from "../../domain/clock.ts";
import type { StreamEvents } from "../schemas/events.ts";
import type { SessionPages } from "../session-pages.ts";
import { EventBatch, frame, type SseChannel } from "../sse.ts";
import { stepBlocks } from "../views/step-block.ts";
import { LiveText } from "./live-text.ts";
import { SessionChanges, wholeChange } from "./session-changes.ts";
import type { FeedRow, SessionFeed } from "./session-feed.ts";

/** Pages are sent at most this often. */
const betweenChangesMs = 250;

interface Watcher {
  readonly channel: SseChannel;
  /** The persona whose text and steps are sent: "persona" or "phase/persona". */
  readonly follows: string | undefined;
  /** The last row that was sent to it. */
  sent: number;
  /** Changes that arrived while the whole page was read. They are sent after the page, which may be older. */
  waiting: string[] | undefined;
}

export interface StreamParts {
  readonly pages: SessionPages;
  readonly clock: Clock;
  readonly report: (notice: string) => void;
}

/** One session's events for all its watchers: each event is encoded once. */
export class SessionStream {
  readonly feed: SessionFeed;
  readonly #parts: StreamParts;
  /** Watchers that have caught up. The others are still replaying. */
  readonly #watchers = new Set<Watcher>();
  readonly #members = new Set<SseChannel>();
  readonly #changes = new SessionChanges();
  readonly #text = new LiveText((text) => this.#sendText(text));
  readonly #leaveFeed: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** Rows have arrived since the page was last read. */
  #isStale = false;
  /** Listing all files for every step would be slow, and they change only with a phase. */
  #hasNewFiles = true;

  constructor(feed: SessionFeed, parts: StreamParts) {
    this.feed = feed;
    this.#parts = parts;
    this.#leaveFeed = feed.listen((rows) => this.#receive(rows));
  }

  get isIdle(): boolean {
    return this.#members.size === 0;
  }

  join(channel: SseChannel): void {
    this.#members.add(channel);
  }

  /** Sends the rows after `after`, then new ones: every seq once, plus the steps of the followed persona. */
  async add(
    channel: SseChannel,
    options: { readonly after: number; readonly text: string | undefined },
  ): Promise<void> {
    const { after, text: follows } = options;
    const isBehind = after < this.feed.head;
    const watcher: Watcher = { channel, follows, sent: after, waiting: isBehind ? [] : undefined };
    while (watcher.sent < this.feed.head) {
      for await (const page of this.feed.replay(this.#replayFrom(watcher))) {
        const unsent = page.filter(({ row }) => row.seq > watcher.sent);
        sendBatch(watcher, batchOf(unsent));
        for (const row of unsent) this.#sendStep(row, [watcher]);
        if (!(await channel.drained())) return;
      }
    }
    if (!this.#members.has(channel)) return;
    // No await since the heads were compared, so no row is lost between the replay and the new rows.
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
    const isWanted = [...this.#watchers].some(({ follows }) => follows?.split("/").at(-1) === persona);
    if (isWanted) this.#text.hear(persona, delta, this.#parts.clock.now(), this.feed);
  }

  stop(): void {
    this.#leaveFeed();
    clearTimeout(this.#timer);
    this.#text.stop();
  }

  /**
   * A tool's row does not contain its arguments, so for a follower the replay starts at the attempt, which has the
   * calls.
   */
  #replayFrom({ follows, sent }: Watcher): number {
    const [started] =
      [...this.feed.chronicle.attempts].findLast(
        ([seq, { phase, persona }]) => seq <= sent && isPlace(follows, phase, persona),
      ) ?? [];
    return started ?? sent;
  }

  #receive(rows: readonly FeedRow[]): void {
    const batch = batchOf(rows);
    for (const watcher of this.#watchers) sendBatch(watcher, batch);
    for (const row of rows) {
      const { fact } = row;
      if (fact.kind === "step" && fact.step === "model" && fact.persona !== null)
        this.#text.recorded(fact.persona);
      this.#sendStep(row, this.#watchers);
      this.#hasNewFiles ||= fact.phase !== null && fact.persona === null;
    }
    this.#isStale = true;
    this.#sendChangeSoon();
  }

  /** The recorded step replaces the live text of its call. */
  #sendStep({ row, fact, request }: FeedRow, watchers: Iterable<Watcher>): void {
    const { kind, phase, persona } = fact;
    if (kind !== "step" || phase === null || persona === null) return;
    const followers = [...watchers].filter(({ follows }) => isPlace(follows, phase, persona));
    if (followers.length === 0) return;
    for (const block of stepBlocks(row, request)) {
      const text = frame("step", { phase, persona, block } satisfies StreamEvents["step"]);
      for (const { channel } of followers) channel.send(text);
    }
  }

  #sendText(text: StreamEvents["text"]): void {
    const written = frame("text", text);
    for (const { channel, follows } of this.#watchers)
      if (isPlace(follows, text.phase, text.persona)) channel.sendIfIdle(written);
  }

  #sendChangeSoon(): void {
    this.#timer ??= setTimeout(() => void this.#sendChange(), betweenChangesMs).unref();
  }

  async #sendChange(): Promise<void> {
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
      // The page may be older than a row that arrived meanwhile, and no further row may follow.
      if (this.#isStale && !this.isIdle) this.#sendChangeSoon();
    }
  }
}

function batchOf(rows: readonly FeedRow[]): EventBatch<number> {
  const events = rows.map(({ row, fact }) => ({ id: row.seq, text: frame("entry", fact, row.seq) }));
  return new EventBatch(events, (one, other) => one - other);
}

function sendBatch(watcher: Watcher, batch: EventBatch<number>): void {
  const bytes = batch.after(watcher.sent);
  if (bytes === undefined) return;
  watcher.channel.send(bytes);
  watcher.sent = batch.last ?? watcher.sent;
}

const isPlace = (follows: string | undefined, phase: string, persona: string): boolean =>
  follows === persona || follows === `${phase}/${persona}`;
