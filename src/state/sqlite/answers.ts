import type { Reply } from "./command.ts";

export type Resolve = (reply: Reply) => void;

/** Each answer wakes a session that works until its next step; so many in one turn of the event loop, others go first. */
const perTurn = 16;
/** A full commit on its way and one that fills up. What begins beyond that only waits, and fills the memory. */
const roomFor = 128;

/** Whoever waits for a commit, in the order of the commands, and whoever waits to begin what will need one. */
export class Answers {
  /** Whoever was answered is not held any longer. */
  readonly #waiting: (Resolve | undefined)[] = [];
  #answered = 0;
  readonly #replies: Reply[] = [];
  readonly #beginners: (() => void)[] = [];
  #isTurnOver = true;
  readonly #onQuiet: () => void;

  /** `onQuiet`: nothing is under way. */
  constructor(onQuiet: () => void) {
    this.#onQuiet = onQuiet;
  }

  get hasRoom(): boolean {
    return this.#beginners.length === 0 && this.#isRoomy;
  }

  /** At once or in turn. Who comes later does not begin sooner: steps are told apart by the order they are asked for in. */
  whenRoom(begin: () => void): void {
    if (this.hasRoom) begin();
    else this.#beginners.push(begin);
  }

  expect(resolve: Resolve): void {
    this.#waiting.push(resolve);
  }

  give(replies: readonly Reply[]): void {
    this.#replies.push(...replies);
    if (this.#isTurnOver) this.#takeTurn();
  }

  /** For everybody but the last few, and the answers that are there already. */
  giveAll(reply: Reply, exceptLast: number): void {
    for (const given of this.#replies.splice(0)) this.#answer(given);
    while (this.#underWay > exceptLast) this.#answer(reply);
    if (this.#isTurnOver) this.#takeTurn();
  }

  get #underWay(): number {
    return this.#waiting.length - this.#answered;
  }

  get #isRoomy(): boolean {
    return this.#underWay < roomFor;
  }

  #answer(reply: Reply): void {
    const resolve = this.#waiting[this.#answered];
    this.#waiting[this.#answered] = undefined;
    this.#answered += 1;
    resolve?.(reply);
  }

  #takeTurn(): void {
    for (const reply of this.#replies.splice(0, perTurn)) this.#answer(reply);
    if (this.#isRoomy) for (const begin of this.#beginners.splice(0, perTurn)) begin();
    this.#forgetAnswered();
    this.#isTurnOver = false;
    setImmediate(() => {
      this.#isTurnOver = true;
      if (this.#replies.length > 0 || (this.#beginners.length > 0 && this.#isRoomy)) this.#takeTurn();
    });
  }

  #forgetAnswered(): void {
    if (this.#underWay === 0) {
      this.#waiting.length = 0;
      this.#answered = 0;
      this.#onQuiet();
    } else if (this.#answered > 1_024) {
      this.#waiting.splice(0, this.#answered);
      this.#answered = 0;
    }
  }
}
