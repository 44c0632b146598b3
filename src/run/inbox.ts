import { LeaseLost } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { HeldSession } from "../store/reports.ts";
import type { SessionJournal } from "../store/session-journal.ts";
import type { Store } from "../store/store.ts";
import type { Control } from "./control.ts";

const pollEveryMs = 250;

interface Watched {
  readonly journal: SessionJournal;
  readonly control: Control;
}

/** Receives signals: at once those of this process, by polling those of others, with one query for all driven sessions. */
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

  /** Returns a function that stops watching. After it resolves, the inbox writes nothing more to the journal. */
  watch(id: SessionId, watched: Watched): () => Promise<void> {
    this.#watched.set(id, watched);
    // A slow query is not followed by a second one at the same time.
    this.#timer ??= setInterval(() => {
      if (this.#looking === undefined) void this.look();
    }, pollEveryMs).unref();
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

  /** Polls now, one query at a time. A running query may have missed the signal, so one more serves all callers. */
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
    this.#stopLost(held);
    for (const [id, { isSignaled }] of held) {
      const watched = this.#watched.get(id);
      if (watched === undefined || !isSignaled) continue;
      try {
        await watched.journal.receive();
        obey(watched);
      } catch (error) {
        // An error of one session must not stop the others. A driver that lost its lease notices at its next write.
        if (!LeaseLost.is(error)) this.#report(error);
      }
    }
  }

  /** A driver that was suspended for longer than its lease may be idle, and would notice only at its next write. */
  #stopLost(held: ReadonlyMap<SessionId, HeldSession>): void {
    for (const [id, { journal, control }] of this.#watched) {
      if (held.get(id)?.epoch !== journal.lease.epoch) control.stop("shutdown", { abort: true });
    }
  }
}

/** Takes effect at the next step. A cancel also stops the running one. */
export function obey({ journal, control }: Watched): void {
  for (const signal of journal.state.signals) {
    if (signal.action === "pause") control.stop(signal.by ?? "pause");
    else if (signal.action === "cancel") control.stop("cancel", { abort: true });
  }
}
