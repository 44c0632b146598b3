import type { BudgetLevelName } from "../domain/budget.ts";
import type { Clock } from "../domain/clock.ts";
import type { ReservationId } from "../domain/ledger.ts";
import type { Journal, Lease, RateRefusal, ReservationAnswer, ReservationRequest } from "../store/journal.ts";
import { budgetExceeded } from "./budget-exceeded.ts";

/** Settlements of other processes are noticed at the next poll, those of this process immediately. */
const lookAgainMs = 250;

/** The reservation to settle or release, and how far the call's output was reduced. */
export type Granted = Extract<ReservationAnswer, { kind: "granted" }>;
/** `later`: the budgets have room, but the provider's minute does not. */
export type Reserved = Granted | RateRefusal;

interface Waiter {
  /** Order of arrival. */
  readonly turn: number;
  readonly lease: Lease;
  readonly request: ReservationRequest;
  /** The budgets that must have room. */
  readonly budgets: readonly string[];
  /** The budget that it waits for. */
  blockedAt: string;
  isGone: boolean;
  readonly resolve: (reserved: Reserved) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Reserves before a call, and waits while only other open calls hold the budget. One guard serves the whole
 * process: waiters of a budget are served in order of arrival, and a smaller later call does not overtake.
 */
export class BudgetGuard {
  readonly #journal: Pick<Journal, "reserve" | "withdraw">;
  readonly #clock: Clock;
  #waiters: Waiter[] = [];
  #turns = 0;
  #settlements = 0;
  #isLooking = false;
  #mustLookAgain = false;
  #watch: AbortController | undefined;

  constructor(journal: Pick<Journal, "reserve" | "withdraw">, clock: Clock) {
    this.#journal = journal;
    this.#clock = clock;
  }

  /** Throws BudgetExceeded if no settlement of other calls could make room. */
  async reserve(lease: Lease, request: ReservationRequest, signal?: AbortSignal): Promise<Reserved> {
    signal?.throwIfAborted();
    const turn = ++this.#turns;
    const budgets = request.limits.map(({ level }) => budgetKey(level, lease, request));
    let blockedAt = this.#waiters.find((waiter) => budgets.includes(waiter.blockedAt))?.blockedAt;
    const settlements = this.#settlements;
    if (blockedAt === undefined) {
      const answer = await this.#journal.reserve(lease, request);
      if (answer.kind === "granted") return this.#unlessAborted(lease, answer, signal);
      if (answer.kind === "later") return answer;
      if (answer.kind !== "wait") throw budgetExceeded(lease, request, answer);
      blockedAt = budgetKey(answer.level, lease, request);
      signal?.throwIfAborted();
    }
    const waiting = this.#wait({ turn, lease, request, budgets, blockedAt }, signal);
    // Otherwise room that was made while the answer was on its way would be noticed late.
    if (settlements !== this.#settlements) this.settled();
    return waiting;
  }

  /** For a call that was certainly never sent. */
  async release(lease: Lease, reservation: ReservationId): Promise<void> {
    await this.#journal.withdraw(lease, reservation);
    this.settled();
  }

  /** Call this after each commit that settled a call, because there may be room now. */
  settled(): void {
    this.#settlements += 1;
    if (this.#waiters.length > 0) void this.#look();
  }

  async #unlessAborted(lease: Lease, granted: Granted, signal: AbortSignal | undefined): Promise<Granted> {
    if (!signal?.aborted) return granted;
    await this.release(lease, granted.reservation);
    throw signal.reason;
  }

  #wait(
    asking: Pick<Waiter, "turn" | "lease" | "request" | "budgets" | "blockedAt">,
    signal: AbortSignal | undefined,
  ): Promise<Reserved> {
    return new Promise((resolve, reject) => {
      const forget = () => signal?.removeEventListener("abort", onAbort);
      const waiter: Waiter = {
        ...asking,
        isGone: false,
        resolve: (reserved) => {
          forget();
          resolve(reserved);
        },
        reject: (reason) => {
          forget();
          reject(reason);
        },
      };
      const onAbort = () => {
        this.#remove(waiter);
        waiter.reject(signal?.reason);
        // Waiters behind it can go first now.
        this.settled();
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiters = [...this.#waiters, waiter].sort((a, b) => a.turn - b.turn);
      this.#watchWhileWaiting();
    });
  }

  /** Retries the first waiter of each budget until none succeeds. */
  async #look(): Promise<void> {
    this.#mustLookAgain = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      while (this.#mustLookAgain) {
        this.#mustLookAgain = false;
        await Promise.all(this.#firstInLine().map((waiter) => this.#askFor(waiter)));
      }
    } finally {
      this.#isLooking = false;
    }
  }

  #firstInLine(): Waiter[] {
    const taken = new Set<string>();
    return this.#waiters.filter(({ budgets, blockedAt }) => {
      const isFirst = !budgets.some((budget) => taken.has(budget));
      taken.add(blockedAt);
      return isFirst;
    });
  }

  async #askFor(waiter: Waiter): Promise<void> {
    const { lease, request } = waiter;
    let answer: ReservationAnswer;
    try {
      answer = await this.#journal.reserve(lease, request);
    } catch (error) {
      return this.#end(waiter, () => waiter.reject(error));
    }
    if (answer.kind === "granted") {
      const granted = answer;
      // A waiter that was aborted meanwhile does not make its call.
      if (waiter.isGone) await this.#journal.withdraw(lease, granted.reservation).catch(() => {});
      return this.#end(waiter, () => waiter.resolve(granted));
    }
    if (answer.kind === "later") {
      const later = answer;
      this.#end(waiter, () => waiter.resolve(later));
    } else if (answer.kind === "wait") waiter.blockedAt = budgetKey(answer.level, lease, request);
    else {
      const error = budgetExceeded(lease, request, answer);
      this.#end(waiter, () => waiter.reject(error));
    }
  }

  #end(waiter: Waiter, tell: () => void): void {
    this.#mustLookAgain = true;
    if (waiter.isGone) return;
    this.#remove(waiter);
    tell();
  }

  #remove(waiter: Waiter): void {
    waiter.isGone = true;
    this.#waiters = this.#waiters.filter((other) => other !== waiter);
    if (this.#waiters.length > 0) return;
    this.#watch?.abort();
    this.#watch = undefined;
  }

  #watchWhileWaiting(): void {
    if (this.#watch !== undefined) return;
    const watch = new AbortController();
    this.#watch = watch;
    const look = async () => {
      while (!watch.signal.aborted) {
        await this.#clock.sleep(lookAgainMs, watch.signal).catch(() => {});
        await this.#look();
      }
    };
    void look();
  }
}

/** One queue for each shared budget. The day's queue has no date: a call that waits past midnight uses the new day. */
function budgetKey(
  level: BudgetLevelName,
  { sessionId }: Lease,
  { phase, persona }: ReservationRequest,
): string {
  switch (level) {
    case "day":
      return "day";
    case "session":
      return `session ${sessionId}`;
    case "phase":
      return `phase ${sessionId} ${phase}`;
    case "persona":
      return `persona ${sessionId} ${persona}`;
  }
}
