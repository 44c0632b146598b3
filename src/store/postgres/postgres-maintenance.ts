import { SessionConflict } from "../../domain/errors.ts";
import type { Submit } from "../command.ts";
import type { Comparison, Maintenance } from "../store.ts";

/** A server finds damage of its own files, and no folders stand beside it: little is left to do here. */
export class PostgresMaintenance implements Maintenance {
  readonly #submit: Submit;

  constructor(submit: Submit) {
    this.#submit = submit;
  }

  async findDamage(): Promise<readonly string[]> {
    return [];
  }

  async findComparison(): Promise<Comparison> {
    return { comparedAt: undefined, newestAt: undefined };
  }

  async rememberComparison(): Promise<void> {
    // Nothing is compared.
  }

  async restoreRows({ id }: { readonly id: string }): Promise<void> {
    throw new SessionConflict(`Session ${id} is in PostgreSQL, which is restored with its own backup.`, {
      details: { session: id },
    });
  }

  onRemoved(): void {
    // A server that lost its tables refuses every statement.
  }

  async reclaimSpace(): Promise<void> {
    for (;;) {
      const reply = await this.#submit({ verb: "reclaim" });
      if (reply.kind !== "deleted" || !reply.more) return;
    }
  }
}
