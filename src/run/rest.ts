import type { Clock } from "../domain/clock.ts";
import type { Control } from "./control.ts";

/** A session in which everything has waited for this long, and still waits longer than this, gives its place back. */
export const restAfterMs = 5_000;

/** A session in which all that is left waits for people stops after this long. */
const askedAfterMs = 250;

/** A wait for a person has no end of its own. */
const isForPerson = (end: number): boolean => end === Number.POSITIVE_INFINITY;

/** The right of so many personas of a group to work at once. One that waits for a person lends its own to another. */
export class Slots {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** In the order of the calls. */
  async take(): Promise<void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}

/** The work of one persona, which waits when all that it asked for waits. */
export class Waiter {
  readonly #rest: Rest;
  readonly #slots: Slots;
  /** When each of its waits is over. */
  readonly ends = new Set<{ readonly at: number }>();
  /** Steps under way; the code between steps is not seen. */
  #steps: { readonly count: number } = { count: 0 };
  #waitingSteps = 0;
  #waitsForPeople = 0;

  constructor(rest: Rest, slots: Slots) {
    this.#rest = rest;
    this.#slots = slots;
  }

  get isWaiting(): boolean {
    return this.ends.size > 0 && this.#steps.count === this.#waitingSteps;
  }

  /** Until the attempt ends, its steps say whether it is busy. */
  follow(steps: { readonly count: number }): () => void {
    this.#steps = steps;
    return () => {
      this.#steps = { count: 0 };
    };
  }

  /** `step`: what waits is itself a step under way. */
  async during<T>(waitMs: number, work: () => Promise<T>, what: "work" | "step" = "work"): Promise<T> {
    if (!isForPerson(waitMs)) return this.#during(waitMs, work, what);
    this.#waitsForPeople += 1;
    if (this.#waitsForPeople === 1) this.#slots.give();
    try {
      return await this.#during(waitMs, work, what);
    } finally {
      this.#waitsForPeople -= 1;
      if (this.#waitsForPeople === 0) await this.#slots.take();
    }
  }

  async #during<T>(waitMs: number, work: () => Promise<T>, what: "work" | "step"): Promise<T> {
    const end = this.#rest.endOf(waitMs);
    const steps = what === "step" ? 1 : 0;
    this.ends.add(end);
    this.#waitingSteps += steps;
    this.#rest.noteBegin(waitMs);
    try {
      return await work();
    } finally {
      this.ends.delete(end);
      this.#waitingSteps -= steps;
      this.#rest.noteEnd();
    }
  }
}

/**
 * Stops a drive in which everything waits: it gives its place back, and a later drive continues when the first wait is over. A
 * wait for a person has no end of its own: where only those are left, the session parks.
 */
export class Rest {
  readonly #control: Control;
  readonly #clock: Clock;
  readonly #waiters = new Set<Waiter>();
  #progress = 0;
  #watching: AbortController | undefined;

  constructor(control: Control, clock: Clock) {
    this.#control = control;
    this.#clock = clock;
  }

  /** For one persona while it works. `slots`: it has one of them. */
  async join<T>(slots: Slots, work: (waiter: Waiter) => Promise<T>): Promise<T> {
    const waiter = new Waiter(this, slots);
    this.#waiters.add(waiter);
    this.#progress += 1;
    try {
      return await work(waiter);
    } finally {
      this.#waiters.delete(waiter);
      this.#progress += 1;
    }
  }

  /** A wait is over. */
  noteEnd(): void {
    this.#progress += 1;
    const ends = this.#ends();
    if (ends.length > 0 && !ends.every(isForPerson)) return;
    this.#watching?.abort();
    this.#watching = undefined;
    // The pace changes when only people are waited for.
    if (ends.length > 0) this.#beginToWatch();
  }

  endOf(waitMs: number): { readonly at: number } {
    return { at: this.#clock.now() + waitMs };
  }

  /** A wait has begun, and its end is known. */
  noteBegin(waitMs: number): void {
    this.#progress += 1;
    if (waitMs > restAfterMs && this.#watching === undefined) this.#beginToWatch();
  }

  #beginToWatch(): void {
    const watching = new AbortController();
    this.#watching = watching;
    void this.#watch(watching.signal);
  }

  get #activity(): number {
    return this.#progress + this.#control.stepsBegun;
  }

  #ends(): readonly number[] {
    return [...this.#waiters].flatMap(({ ends }) => [...ends].map(({ at }) => at));
  }

  /** One timer for the whole session, and none while nothing in it waits. */
  async #watch(signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        const before = this.#activity;
        await this.#clock.sleep(this.#ends().every(isForPerson) ? askedAfterMs : restAfterMs, signal);
        const isQuiet = this.#activity === before && [...this.#waiters].every((waiter) => waiter.isWaiting);
        const [now, wakeAt] = [this.#clock.now(), Math.min(...this.#ends())];
        if (isQuiet && isForPerson(wakeAt)) return this.#control.rest();
        if (isQuiet && wakeAt - now > restAfterMs)
          return this.#control.rest({ restsSince: now - restAfterMs, wakeAt });
      }
    } catch {
      // Nothing waits.
    }
  }
}
