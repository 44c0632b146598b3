import type { Maestro } from "../api/open.ts";
import type { Scheduler } from "../api/scheduler.ts";
import { InputInvalid, SessionConflict } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { ResumeOptions } from "../index.ts";
import type { Direction } from "../journal/journal.ts";
import { plannedPhases } from "../journal/planned.ts";
import type { SessionState } from "../journal/session-state.ts";
import type { SessionBook } from "./feed/session-book.ts";

/** The longest that a request waits for a drive that is about to end. */
const patienceMs = 5_000;

export interface ActionParts {
  readonly maestro: Maestro;
  readonly scheduler: Scheduler;
  readonly book: SessionBook;
}

/** Actions that outlast their request: they are recorded first, then driven in the background. */
export class SessionActions {
  readonly #parts: ActionParts;

  constructor(parts: ActionParts) {
    this.#parts = parts;
  }

  /** Resumes to the end. Leaves a session alone that is already driven. */
  async resume(idOrKey: string, options: ResumeOptions = {}): Promise<void> {
    const { edits = {}, acceptChanges, note } = options;
    const isPlain = Object.keys(edits).length === 0 && acceptChanges !== true && note === undefined;
    await this.#queue(idOrKey, options, (state) => isPlain && continues(state));
  }

  /** Runs one phase, or joins a drive that will reach it anyway. */
  async runPhase(idOrKey: string, phase: string): Promise<void> {
    const { state } = await this.#parts.book.open(idOrKey);
    const known = plannedPhases(state.created.definition).map(({ name }) => name);
    if (!known.includes(phase))
      throw new InputInvalid(`There is no phase "${phase.slice(0, 200)}".`, {
        details: { session: state.id },
        advice: `Its phases: ${known.join(", ")}.`,
      });
    const direction: Direction = { only: [phase] };
    await this.#queue(idOrKey, { direction }, (state) => continues(state) && reaches(state.direction, phase));
  }

  /** Takes a session that was just queued. */
  queued(id: SessionId): void {
    this.#parts.scheduler.tryAgain(id);
  }

  async #queue(
    idOrKey: string,
    options: ResumeOptions & { readonly direction?: Direction },
    isDoneAnyway: (state: SessionState) => boolean,
  ): Promise<void> {
    const { maestro, scheduler, book } = this.#parts;
    const { id } = await maestro.find(idOrKey);
    const drive = scheduler.driveOf(id);
    if (drive !== undefined) {
      const { state } = await book.open(id);
      if (isDoneAnyway(state)) return;
      // The drive is about to end, by a pause or at its last phase. The next one can start after it.
      if (!(await endsSoon(drive)))
        throw new SessionConflict(`Session ${id} is being driven and does not stop at once.`, {
          details: { session: id, status: state.standing.status },
          advice: "Pause it, or try again when it has stopped.",
        });
    }
    await maestro.queueResume(id, options);
    scheduler.tryAgain(id);
  }
}

/** True if no pause or cancel is pending. */
const continues = ({ standing: { status }, signals }: SessionState): boolean =>
  (status === "running" || status === "queued") && signals.length === 0;

function reaches({ only, until }: Direction, phase: string): boolean {
  return until === undefined && (only === undefined || only.includes(phase));
}

function endsSoon(drive: Promise<void>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), patienceMs).unref();
    void drive.finally(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
