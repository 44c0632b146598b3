import type { SessionState } from "../journal/session-state.ts";
import { projectExecutionState } from "./execution-state.ts";
import type { SessionFiles } from "./session-files.ts";

const betweenWritesMs = 1_000;
/** Rest between two files, so that a thousand busy sessions do not turn the disk into a summary writer. */
const restMs = 10;

/** A session whose state changes while it is driven. */
interface Driven {
  readonly state: SessionState;
}

interface Dirty {
  readonly files: SessionFiles;
  readonly session: Driven;
}

/** Keeps `execution_state.json` of every driven session fresh: at most one write a second each, and the final one. */
export class Projector {
  readonly #dirty = new Map<string, Dirty>();
  /** Their driver has let go: another process may own the files by now. */
  readonly #finished = new WeakSet<Driven>();
  readonly #report: (problem: unknown) => void;
  #writing: Promise<void> = Promise.resolve();
  #loop: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #isClosed = false;

  constructor(report: (problem: unknown) => void) {
    this.#report = report;
  }

  /** Something changed; written within a second or so. */
  changed(files: SessionFiles, session: Driven): void {
    if (this.#isClosed || this.#dirty.has(session.state.id)) return;
    this.#dirty.set(session.state.id, { files, session });
    this.#loop ??= this.#run();
  }

  /** Writes now; the last word on a session before its driver lets go. */
  async finish(files: SessionFiles, session: Driven): Promise<void> {
    this.letGo(session);
    await this.#writing;
    await files.writeExecutionState(projectExecutionState(session.state));
  }

  /** Writes nothing more about it from here. */
  letGo(session: Driven): void {
    this.#finished.add(session);
    const { id } = session.state;
    if (this.#dirty.get(id)?.session === session) this.#dirty.delete(id);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#dirty.clear();
    this.#wake?.();
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (this.#dirty.size > 0) {
      await this.#pause(betweenWritesMs);
      // Sessions that change while this round is written belong to the next one.
      const round = [...this.#dirty];
      this.#dirty.clear();
      for (const [, { files, session }] of round) {
        if (this.#isClosed || this.#finished.has(session)) continue;
        // A summary that cannot be written must not stop the work; the journal has it all.
        this.#writing = files.writeExecutionState(projectExecutionState(session.state)).catch(this.#report);
        await this.#writing;
        await this.#pause(restMs);
      }
    }
    this.#loop = undefined;
  }

  /** Nothing keeps the process alive for a pause, so who closes must not be left waiting for one. */
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
