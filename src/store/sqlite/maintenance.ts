import type { Comparison, Maintenance } from "../store.ts";
import type { Submit } from "./command.ts";
import type { Reader } from "./reader.ts";

export class SqliteMaintenance implements Maintenance {
  readonly #reader: Reader;
  readonly #submit: Submit;

  constructor(reader: Reader, submit: Submit) {
    this.#reader = reader;
    this.#submit = submit;
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

  async reclaimSpace(): Promise<void> {
    for (;;) {
      const reply = await this.#submit({ verb: "reclaim" });
      if (reply.kind !== "deleted" || !reply.more) return;
    }
  }
}
