import { LeaseLost } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { HeldSession } from "../store/reports.ts";
import type { SessionJournal } from "../store/session-journal.ts";
import type { Store } from "../store/store.ts";
import type { Control } from "./control.ts";

const lookEveryMs = 250;

interface Watched {
  readonly journal: SessionJournal;
  readonly control: Control;
}

/** Listens for what people say from other processes, with one look for all sessions this process drives. */
export class Inbox {
  readonly #store: Store;
  readonly #report: (problem: unknown) => void;
  readonly #watched = new Map<SessionId, Watched>();
  #timer: NodeJS.Timeout | undefined;
  #stopHearing: (() => void) | undefined;
  #looking: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(store: Store, report: (problem: unknown) => void) {
    this.#store = store;
    this.#report = report;
  }

  /** Returns how to stop watching; after it resolves nothing more is written to the journal from here. */
  watch(id: SessionId, watched: Watched): () => Promise<void> {
    this.#watched.set(id, watched);
    // A look that takes longer than the time between two is not piled up on.
    this.#timer ??= setInterval(() => {
      if (this.#looking === undefined) void this.look();
    }, lookEveryMs).unref();
    this.#stopHearing ??= this.#store.wakeups.hear("signal", () => void this.look());
    return async () => {
      this.#watched.delete(id);
      if (this.#watched.size === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
        this.#stopHearing?.();
        this.#stopHearing = undefined;
      }
      await this.#looking;
    };
  }

  /** Looks now; one look at a time. One under way may be past the session: one more serves all who ask meanwhile. */
  look(): Promise<void> {
    if (this.#looking === undefined) return this.#begin();
    this.#next ??= this.#looking.then(() => {
      this.#next = undefined;
      return this.#begin();
    });
    return this.#next;
  }

  #begin(): Promise<void> {
    this.#looking = this.#look()
      .catch(this.#report)
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const held = await this.#store.reports.held();
    this.#letGoOfLost(held);
    for (const [id, { isSignaled }] of held) {
      const watched = this.#watched.get(id);
      if (watched === undefined || !isSignaled) continue;
      try {
        await watched.journal.receive();
        obey(watched);
      } catch (error) {
        // One session's trouble keeps no other from being heard. Who lost its lease finds out at its own next write.
        if (!LeaseLost.is(error)) this.#report(error);
      }
    }
  }

  /** A driver that was stopped for longer than its lease may be idle and would notice only at its next write. */
  #letGoOfLost(held: ReadonlyMap<SessionId, HeldSession>): void {
    for (const [id, { journal, control }] of this.#watched) {
      if (held.get(id)?.epoch !== journal.lease.epoch) control.stop("shutdown", { abort: true });
    }
  }
}

/** Takes effect at the next step; a cancel also stops what is under way. */
export function obey({ journal, control }: Watched): void {
  for (const { say } of journal.state.messages) {
    if (say === "pause" || say === "cancel") control.stop(say, { abort: say === "cancel" });
  }
}
