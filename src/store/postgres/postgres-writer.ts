import { channel } from "node:diagnostics_channel";
import { type CommitMeasured, commitChannel } from "../../domain/channels.ts";
import type { Command, Reply } from "../command.ts";
import { reachCommit } from "../commit-faults.ts";
import { reach } from "../fault-points.ts";
import { appendSteps, type Head } from "./append-steps.ts";
import { type Batch, isBatched } from "./batch.ts";
import { type DirectCommand, executeDirectly } from "./direct.ts";
import { execute } from "./execute.ts";
import { load } from "./load.ts";
import { save } from "./save.ts";
import { notWritten } from "./server-errors.ts";
import { storeClosed, type Transactions } from "./transactions.ts";

const commandsPerBatch = 128;
/** One full batch in progress and one that fills up. Work beyond that would only wait and use memory. */
const roomFor = 2 * commandsPerBatch;

interface Queued {
  readonly command: Command;
  readonly queuedAt: number;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
}

const commits = channel(commitChannel);

/** The one path for writes: commands that arrive while a transaction is under way go into the next one. */
export class PostgresWriter {
  readonly #transactions: Transactions;
  readonly #place: string;
  readonly #queue: Queued[] = [];
  readonly #beginners: (() => void)[] = [];
  /** The end of each journal that this process may write, known since its claim or its last row. */
  readonly #heads = new Map<number, Head>();
  #underWay = 0;
  #flushing: Promise<void> | undefined;
  #isClosed = false;

  constructor(transactions: Transactions, place: string) {
    this.#transactions = transactions;
    this.#place = place;
  }

  submit(command: Command): Promise<Reply> {
    if (this.#isClosed) return Promise.reject(storeClosed(this.#place));
    return new Promise((resolve, reject) => {
      this.#queue.push({ command, queuedAt: performance.now(), resolve, reject });
      this.#underWay += 1;
      this.#flushing ??= new Promise((flushed) => setImmediate(() => void this.#flush().then(flushed)));
    });
  }

  /** Undefined: start now. Callers continue in order, because the order of requests distinguishes steps. */
  waitForRoom(): Promise<void> | undefined {
    if (this.#beginners.length === 0 && this.#underWay < roomFor) return undefined;
    return new Promise((resolve) => this.#beginners.push(resolve));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#flushing;
    await this.#transactions.close();
  }

  async #flush(): Promise<void> {
    while (this.#queue.length > 0) {
      const [first] = this.#queue;
      await this.#commit(this.#queue.splice(0, first === undefined ? 0 : this.#together(first.command)));
      // A busy chain of awaits would starve timers.
      if (this.#queue.length === 0) await new Promise(setImmediate);
      this.#giveRoom();
    }
    this.#flushing = undefined;
  }

  /** How many commands at the head of the queue go into one transaction. */
  #together(first: Command): number {
    if (standsAlone(first)) return 1;
    const end = this.#queue.findIndex(({ command }) => standsAlone(command));
    return Math.min(end === -1 ? this.#queue.length : end, commandsPerBatch);
  }

  async #commit(queued: readonly Queued[]): Promise<void> {
    const commands = queued.map(({ command }) => command);
    try {
      const replies = await this.#run(commands);
      for (const [at, { command, queuedAt, resolve }] of queued.entries()) {
        this.#underWay -= 1;
        if (commits.hasSubscribers)
          commits.publish({
            verb: command.verb,
            durationMs: performance.now() - queuedAt,
          } satisfies CommitMeasured);
        resolve(replies[at] as Reply);
      }
    } catch (error) {
      // One bad command must not roll back the others' facts.
      if (queued.length > 1) for (const one of queued) await this.#commit([one]);
      else {
        this.#underWay -= 1;
        queued[0]?.reject(notWritten(error, this.#place));
      }
    }
  }

  async #run(commands: readonly Command[]): Promise<readonly Reply[]> {
    const before = reach && (() => reach && reachCommit(reach, commands, false, "before-commit"));
    const replies = await this.#transact(commands, before);
    if (reach !== undefined) reachCommit(reach, commands, false, "after-commit");
    return replies;
  }

  async #transact(commands: readonly Command[], before: (() => void) | undefined): Promise<readonly Reply[]> {
    const steps = appendSteps(commands, this.#heads);
    if (steps !== undefined) {
      const sent = await this.#transactions.run(async (transaction) => steps.send(transaction), before);
      const proved = await sent.rows.catch(() => this.#transactions.run(steps.find));
      const replies: Reply[] = [];
      // The rows of a lease that was lost are decided anew, with everything loaded.
      for (const [at, reply] of steps.replies(proved).entries())
        replies.push(reply ?? ((await this.#transact(commands.slice(at, at + 1), undefined))[0] as Reply));
      return replies;
    }
    if (commands.every(isBatched)) {
      const { batch, replies } = await this.#transactions.run(async (transaction) => {
        const batch = await load(transaction, commands);
        const replies = commands.map((command) => execute(batch, command));
        save(transaction, batch);
        return { batch, replies };
      }, before);
      this.#keepHeads(batch);
      return replies;
    }
    const [command] = commands;
    return [
      await this.#transactions.run(
        (transaction) => executeDirectly(transaction, command as DirectCommand),
        before,
      ),
    ];
  }

  #keepHeads({ sessions }: Batch): void {
    for (const [number, { epoch, owner, seq, hash }] of sessions)
      if (owner === null) this.#heads.delete(number);
      else this.#heads.set(number, { epoch, owner, seq, hash });
  }

  #giveRoom(): void {
    const free = Math.max(0, roomFor - this.#underWay);
    for (const begin of this.#beginners.splice(0, free)) begin();
  }
}

/** Claims with limits count what runs, and rare commands are transactions of their own. */
const standsAlone = (command: Command): boolean =>
  !isBatched(command) || (command.verb === "claim" && command.limits.length > 0);
