import type { Maestro } from "../../api/open.ts";
import { comparePositions, type Position, startPosition } from "../../domain/cursor.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isoTime } from "../../domain/iso-time.ts";
import type { SessionRows } from "../session-rows.ts";
import { EventBatch, frame, type SseChannel } from "../sse.ts";
import type { Changes } from "./journal-follower.ts";

/** Rows are sent at most this often. */
const betweenRowsMs = 250;
/** A watcher that missed more rereads the list, which is shorter than the replay. */
const mostReplayed = 20_000;
const rowsAtOnce = 1_000;

interface Watcher {
  readonly channel: SseChannel;
  /** Journal rows instead of session rows. */
  readonly journal: boolean;
  /** The last position that was sent to it. */
  sent: Position;
  /** It receives no new events until it has caught up, because a newer id must not precede an older one. */
  isBehind: boolean;
}

export interface AllSessionsParts {
  readonly maestro: Maestro;
  readonly rows: SessionRows;
  readonly report: (notice: string) => void;
}

/** The events of all sessions: the row of each changed session, with the journal position as id. */
export class AllSessionsStream {
  readonly #parts: AllSessionsParts;
  readonly #watchers = new Set<Watcher>();
  /** Sessions that changed since rows were last sent, with the position of the change. */
  readonly #changed = new Map<SessionId, Position>();
  #toldJournal = startPosition;
  #toldRows = startPosition;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: AllSessionsParts) {
    this.#parts = parts;
  }

  get isIdle(): boolean {
    return this.#watchers.size === 0;
  }

  /** The number of events after a position; null if the position is unknown or the replay would be too large. */
  async missedSince(after: Position, { journal }: { readonly journal: boolean }): Promise<number | null> {
    const end = await this.#parts.maestro.position();
    // The position is beyond this journal, so the events after it are unknown.
    if (comparePositions(after, end) > 0) return null;
    if (journal) return this.#countRows(after, end);
    const changes = await this.#parts.maestro.changes(after, mostReplayed + 1);
    return changes.length > mostReplayed ? null : new Set(changes.map(({ id }) => id)).size;
  }

  /** Between two positions. */
  async #countRows(after: Position, end: Position): Promise<number> {
    let count = 0;
    for (let position = after; ; ) {
      const changes = await this.#parts.maestro.changes(position, mostReplayed);
      count += changes.filter((change) => comparePositions(change.position, end) <= 0).length;
      const last = changes.at(-1)?.position;
      if (last === undefined || changes.length < mostReplayed || comparePositions(last, end) >= 0)
        return count;
      position = last;
    }
  }

  /** Sends the events after a position, then new ones. */
  async add(
    channel: SseChannel,
    options: { readonly after: Position; readonly journal: boolean },
  ): Promise<void> {
    const { after, journal } = options;
    const watcher: Watcher = { channel, journal, sent: after, isBehind: true };
    this.#watchers.add(watcher);
    const atOnce = journal ? rowsAtOnce : mostReplayed;
    const told = (): Position => (journal ? this.#toldJournal : this.#toldRows);
    while (watcher.isBehind) {
      const toldBefore = told();
      const changes = await this.#parts.maestro.changes(watcher.sent, atOnce);
      if (journal) sendBatch(watcher, journalBatch(changes));
      else await this.#sendMissed(watcher, changes);
      if (!(await channel.drained())) return;
      const isAll = changes.length < atOnce;
      // Rows that other watchers received and that are missing here were deleted. Waiting for them would never end.
      if (isAll) watcher.sent = later(watcher.sent, toldBefore);
      // No await here: events sent to others meanwhile are read again, and later ones are not missed.
      watcher.isBehind = !isAll || comparePositions(told(), watcher.sent) > 0;
    }
  }

  remove(channel: SseChannel): void {
    for (const watcher of this.#watchers) if (watcher.channel === channel) this.#watchers.delete(watcher);
  }

  told(changes: Changes): void {
    if (this.isIdle) return;
    const batch = journalBatch(changes);
    for (const watcher of this.#watchers) if (watcher.journal && !watcher.isBehind) sendBatch(watcher, batch);
    this.#toldJournal = changes.at(-1)?.position ?? this.#toldJournal;
    for (const { id, position } of changes) this.#changed.set(id, position);
    this.#timer ??= setTimeout(() => void this.#tellRows(), betweenRowsMs).unref();
  }

  tell(text: string): void {
    for (const { channel } of this.#watchers) channel.send(text);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  async #tellRows(): Promise<void> {
    const changed = [...this.#changed];
    this.#changed.clear();
    try {
      const batch = await this.#rowsBatch(changed);
      for (const watcher of this.#watchers)
        if (!watcher.journal && !watcher.isBehind) sendBatch(watcher, batch);
      for (const [, position] of changed) this.#toldRows = later(this.#toldRows, position);
    } catch (error) {
      this.#parts.report(`Sessions cannot be listed: ${String(error)}`);
    } finally {
      this.#timer = undefined;
      if (this.#changed.size > 0)
        this.#timer = setTimeout(() => void this.#tellRows(), betweenRowsMs).unref();
    }
  }

  async #sendMissed(watcher: Watcher, changes: Changes): Promise<void> {
    const changed = new Map(changes.map(({ id, position }) => [id, position]));
    sendBatch(watcher, await this.#rowsBatch([...changed]));
    watcher.sent = changes.at(-1)?.position ?? watcher.sent;
  }

  /** In the order of ids, so that a watcher that reconnects with the last id misses none. */
  async #rowsBatch(changed: readonly (readonly [SessionId, Position])[]): Promise<EventBatch<Position>> {
    const rows = await this.#parts.rows.of(changed.map(([id]) => id));
    const byId = new Map<string, (typeof rows)[number]>(rows.map((row) => [row.id, row]));
    const events = changed
      .toSorted(([, one], [, other]) => comparePositions(one, other))
      .flatMap(([id, position]) => {
        const row = byId.get(id);
        return row === undefined ? [] : [{ id: position, text: frame("session", row, position) }];
      });
    return new EventBatch(events, comparePositions);
  }
}

function sendBatch(watcher: Watcher, batch: EventBatch<Position>): void {
  const bytes = batch.after(watcher.sent);
  if (bytes === undefined) return;
  watcher.channel.send(bytes);
  watcher.sent = batch.last ?? watcher.sent;
}

function journalBatch(changes: Changes): EventBatch<Position> {
  const events = changes.map(({ id, seq, at, kind, position }) => ({
    id: position,
    text: frame("journal", { sessionId: id, seq, at: isoTime(at), kind }, position),
  }));
  return new EventBatch(events, comparePositions);
}

const later = (one: Position, other: Position): Position => (comparePositions(one, other) > 0 ? one : other);
