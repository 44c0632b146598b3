import { advise } from "../../domain/advice.ts";
import type { Clock } from "../../domain/clock.ts";
import { SessionConflict, type StateRemoved } from "../../domain/errors.ts";
import { encodeEntry } from "../../journal/journal-codec.ts";
import type { Submit } from "../command.ts";
import { heldBy, notFound } from "../lease-errors.ts";
import type { LeaseJudge } from "../lease-judge.ts";
import type { Comparison, Maintenance, RestoredRows } from "../store.ts";
import type { Reader } from "./reader.ts";
import type { Removal } from "./removal.ts";

export class SqliteMaintenance implements Maintenance {
  readonly #reader: Reader;
  readonly #submit: Submit;
  readonly #removal: Removal;
  readonly #leases: LeaseJudge;
  readonly #clock: Clock;

  constructor(reader: Reader, submit: Submit, removal: Removal, leases: LeaseJudge, clock: Clock) {
    this.#reader = reader;
    this.#submit = submit;
    this.#removal = removal;
    this.#leases = leases;
    this.#clock = clock;
  }

  onRemoved(listener: (error: StateRemoved) => void): void {
    this.#removal.hear(listener);
  }

  async findDamage(): Promise<readonly string[]> {
    return this.#reader.damage();
  }

  async findComparison(): Promise<Comparison> {
    return this.#reader.comparison();
  }

  async rememberComparison(comparedAt: number | undefined): Promise<void> {
    if (this.#reader.comparison().comparedAt === comparedAt) return;
    await this.#submit({ verb: "remember-comparison", comparedAt: comparedAt ?? 0 });
  }

  async restoreRows({ id, head, copied, appended, artifacts, usage }: RestoredRows): Promise<void> {
    const session = this.#reader.sessionNumber(id);
    if (session === undefined) throw notFound(id);
    const { holder, state } = await this.#leases.judge(() => this.#reader.lease(session));
    if (state === "held") throw heldBy(id, holder);
    const reply = await this.#submit({
      verb: "restore",
      session,
      owner: holder?.id ?? null,
      head: { seq: head.seq, hash: head.hash },
      copied,
      appended: appended.map(encodeEntry),
      at: this.#clock.now(),
      artifacts,
      usage,
    });
    if (reply.kind === "refused")
      throw new SessionConflict(`Session ${id} was changed by another process meanwhile.`, {
        details: { session: id },
        advice: advise("Try again", "checkpoints", "restore", id),
      });
  }

  async reclaimSpace(): Promise<void> {
    for (;;) {
      const reply = await this.#submit({ verb: "reclaim" });
      if (reply.kind !== "deleted" || !reply.more) return;
    }
  }
}
