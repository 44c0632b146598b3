import type { Maestro, SessionEvent } from "../../index.ts";
import { LiveView } from "../live/live-view.ts";
import { say } from "../output.ts";
import { progressLine } from "../progress.ts";
import { screenOf } from "../terminal/screen.ts";

/** Shows the demo's two processes as live frames, or as lines. */
export class DemoScreen {
  readonly #maestro: Maestro;
  readonly #quiet: boolean;
  #view: LiveView | undefined;
  #following: Promise<void> | undefined;

  constructor(maestro: Maestro, quiet: boolean) {
    this.#maestro = maestro;
    this.#quiet = quiet;
  }

  apply(event: SessionEvent): void {
    if (this.#quiet) return;
    if (!screenOf(process.stderr).live) {
      const line = progressLine(event);
      if (line !== undefined) say(line);
      return;
    }
    this.#view ??= new LiveView().open();
    // The child's last line is its result, not an event.
    if ((event.kind as string) === "result" || event.sessionId === undefined) return;
    this.#following ??= this.#view.follow(this.#maestro, event.sessionId);
    this.#view.apply(event);
  }

  /** Leaves the frame on the screen; the next process gets a new one. */
  async leave(): Promise<void> {
    await this.#following;
    await this.#view?.close(this.#maestro);
    this.#view = undefined;
    this.#following = undefined;
  }
}
