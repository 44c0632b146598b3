import type { SessionQueries } from "../../api/open-readonly.ts";
import type { SessionEvent } from "../../index.ts";
import { Painter } from "../terminal/painter.ts";
import { screenOf } from "../terminal/screen.ts";
import { applyEvent } from "./apply-event.ts";
import { frame } from "./frame.ts";
import { type LiveSession, newLiveSession } from "./live-state.ts";

const repaintMs = 100;
const lookAtUsageMs = 500;
const hideCursor = "\u001b[?25l";
const showCursor = "\u001b[?25h";

/** Repaints a session's frame on standard error until it is closed. */
export class LiveView {
  session: LiveSession = newLiveSession("");
  readonly #painter = new Painter(process.stderr, () => screenOf(process.stderr).columns);
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #restore = (): void => {
    process.stderr.write(showCursor);
  };
  /**
   * Events that arrived while the journal was read. They are applied afterwards, or the session would seem to have
   * ended.
   */
  #early: SessionEvent[] | undefined = [];
  #source: SessionQueries | undefined;
  #reading = false;
  #hidden = false;

  open(): this {
    this.#timers.push(setInterval(() => this.#paint(), repaintMs));
    return this;
  }

  /** Reads past events and starts to update the usage. */
  async follow(maestro: SessionQueries, id: string): Promise<void> {
    this.session = { ...this.session, id };
    this.#source = maestro;
    await this.#catchUp(maestro);
    this.#timers.push(setInterval(() => void this.#readUsage(maestro), lookAtUsageMs));
    await this.#readUsage(maestro);
  }

  apply(event: SessionEvent): void {
    if (this.#early !== undefined) return void this.#early.push(event);
    const isNext = !("seq" in event) || event.seq <= this.session.progress.seq + 1;
    if (isNext || this.#source === undefined) return this.#add(event);
    // Some rows have no live event: a signal that waited for a driver, for example.
    this.#early = [event];
    this.#catchUp(this.#source).catch(() => undefined);
  }

  /** The effect of Ctrl-C now. */
  hint(text: string): void {
    this.session = { ...this.session, hint: text };
  }

  /** Prints a line above the frame. */
  say(text: string): void {
    this.#painter.say(text);
  }

  async close(maestro?: SessionQueries): Promise<void> {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    if (maestro !== undefined && this.session.id !== "") await this.#readUsage(maestro);
    this.#paint();
    this.#painter.leave();
    if (this.#hidden) this.#restore();
    process.off("exit", this.#restore);
  }

  async #catchUp(source: SessionQueries): Promise<void> {
    const { id, progress } = this.session;
    try {
      for await (const event of source.events(id, { after: progress.seq, follow: false })) this.#add(event);
    } finally {
      for (const event of this.#early ?? []) this.#add(event);
      this.#early = undefined;
    }
  }

  #add(event: SessionEvent): void {
    this.session = applyEvent(this.session, event);
  }

  #paint(): void {
    if (this.session.progress.phases.length === 0) return;
    if (!this.#hidden) {
      this.#hidden = true;
      process.stderr.write(hideCursor);
      // The cursor must be restored however the process ends.
      process.once("exit", this.#restore);
    }
    this.#painter.paint(frame(this.session, screenOf(process.stderr), Date.now()));
  }

  async #readUsage(maestro: SessionQueries): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    try {
      const usage = await maestro.usage({ session: this.session.id, by: "persona" });
      this.session = { ...this.session, usage };
    } catch {
      // A failed read must not stop the session.
    } finally {
      this.#reading = false;
    }
  }
}
