import type { SessionEvent } from "../../index.ts";
import type { Reading } from "../../look.ts";
import { Painter } from "../terminal/painter.ts";
import { screenOf } from "../terminal/screen.ts";
import { applyEvent } from "./apply-event.ts";
import { frame } from "./frame.ts";
import { type LiveSession, newLiveSession } from "./live-state.ts";

const repaintMs = 100;
const lookAtUsageMs = 500;
const hideCursor = "\u001b[?25l";
const showCursor = "\u001b[?25h";

/** Repaints a session's picture on the terminal until it is closed. Everything it says goes to standard error. */
export class LiveView {
  readonly session: LiveSession = newLiveSession("");
  readonly #painter = new Painter(process.stderr, () => screenOf(process.stderr).columns);
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #restore = (): void => {
    process.stderr.write(showCursor);
  };
  /** Events that came while the journal was read: applied after it, or it would seem to be over. */
  #early: SessionEvent[] | undefined = [];
  #source: Reading | undefined;
  #reading = false;
  #hidden = false;

  open(): this {
    this.#timers.push(setInterval(() => this.#paint(), repaintMs));
    return this;
  }

  /** What happened before, and how the money stands, from now on. */
  async follow(maestro: Reading, id: string): Promise<void> {
    this.session.id = id;
    this.#source = maestro;
    await this.#catchUp(maestro);
    this.#timers.push(setInterval(() => void this.#readUsage(maestro), lookAtUsageMs));
    await this.#readUsage(maestro);
  }

  apply(event: SessionEvent): void {
    if (this.#early !== undefined) return void this.#early.push(event);
    const isNext = !("seq" in event) || event.seq <= this.session.seq + 1;
    if (isNext || this.#source === undefined) return applyEvent(this.session, event);
    // Not everything is told by who records it: words that waited for a driver, for instance.
    this.#early = [event];
    this.#catchUp(this.#source).catch(() => undefined);
  }

  /** A line that stays above the picture. */
  say(text: string): void {
    this.#painter.say(text);
  }

  async close(maestro?: Reading): Promise<void> {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    if (maestro !== undefined && this.session.id !== "") await this.#readUsage(maestro);
    this.#paint();
    this.#painter.leave();
    if (this.#hidden) this.#restore();
    process.off("exit", this.#restore);
  }

  async #catchUp(source: Reading): Promise<void> {
    const { id, seq: after } = this.session;
    try {
      for await (const event of source.events(id, { after, follow: false })) applyEvent(this.session, event);
    } finally {
      for (const event of this.#early ?? []) applyEvent(this.session, event);
      this.#early = undefined;
    }
  }

  #paint(): void {
    if (this.session.phases.length === 0) return;
    if (!this.#hidden) {
      this.#hidden = true;
      process.stderr.write(hideCursor);
      // However the process ends, the terminal is left as it was.
      process.once("exit", this.#restore);
    }
    this.#painter.paint(frame(this.session, screenOf(process.stderr), Date.now()));
  }

  async #readUsage(maestro: Reading): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    try {
      this.session.usage = await maestro.usage({ session: this.session.id, by: "persona" });
    } catch {
      // The picture is not worth stopping for.
    } finally {
      this.#reading = false;
    }
  }
}
