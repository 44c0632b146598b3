import type { SessionState } from "../journal/session-state.ts";
import { projectExecutionState } from "./execution-state.ts";
import type { SessionFiles } from "./session-files.ts";

const betweenWritesMs = 1_000;
/** Pause between two files, so that a thousand busy sessions do not saturate the disk with summaries. */
const restMs = 10;

/** A session whose state changes while it is driven. */
interface Driven {
  readonly state: SessionState;
}

interface Followed {
  readonly files: SessionFiles;
  written: SessionState | undefined;
}

/**
 * Keeps `execution_state.json` of every driven session current: at most one write per second each, and a final one.
 * States are immutable, so comparing them once a second replaces a call for each row.
 */
export class Projector {
  readonly #followed = new Map<Driven, Followed>();
  readonly #report: (problem: unknown) => void;
  #writing: Promise<void> = Promise.resolve();
  #loop: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #isClosed = false;

  constructor(report: (problem: unknown) => void) {
    this.#report = report;
  }

  /** Follows the session until `finish` or `letGo`. */
  follow(files: SessionFiles, session: Driven): void {
    if (this.#isClosed) return;
    this.#followed.set(session, { files, written: undefined });
    this.#loop ??= this.#run();
  }

  /** Writes the final summary before the driver releases the session. */
  async finish(files: SessionFiles, session: Driven): Promise<void> {
    this.letGo(session);
    await this.#writing;
    await files.writeExecutionState(projectExecutionState(session.state));
  }

  /** From here on another process may own the files. */
  letGo(session: Driven): void {
    this.#followed.delete(session);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#followed.clear();
    this.#wake?.();
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (this.#followed.size > 0) {
      await this.#pause(betweenWritesMs);
      for (const [session, followed] of this.#followed) {
        const { state } = session;
        if (state === followed.written) continue;
        followed.written = state;
        // A failed summary must not stop the work. The journal has everything.
        this.#writing = followed.files.writeExecutionState(projectExecutionState(state)).catch(this.#report);
        await this.#writing;
        await this.#pause(restMs);
      }
    }
    this.#loop = undefined;
  }

  /** A pause does not keep the process alive, so `close` must end it. */
  #pause(ms: number): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      timer.unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
