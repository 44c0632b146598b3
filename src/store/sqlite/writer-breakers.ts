import type { DatabaseSync } from "node:sqlite";
import {
  type Admission,
  admit,
  type BreakerRecord,
  newBreaker,
  onOutcome,
  parseBreaker,
} from "../../domain/breaker.ts";
import { parseJson } from "../../domain/json.ts";
import type { BreakerUse, EndedCall } from "../breaker-store.ts";
import { Statement } from "./statement.ts";

/** Breaker transitions, decided inside the writer's transaction: what two processes see is always one order. */
export class BreakerTable {
  readonly #find;
  readonly #save;
  readonly #remove;

  constructor(database: DatabaseSync) {
    this.#find = new Statement(database, "SELECT record FROM breakers WHERE name = ?");
    this.#save = new Statement(
      database,
      `INSERT INTO breakers (name, record, updated_at) VALUES (?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET record = excluded.record, updated_at = excluded.updated_at`,
    );
    this.#remove = new Statement(database, "DELETE FROM breakers WHERE name = ?");
  }

  admit({ dependency, owner, policy }: BreakerUse, now: number): Admission {
    const before = this.#read(dependency);
    const admission = admit(before, { now, owner, policy });
    this.#write(dependency, before, admission.record, now);
    return admission;
  }

  end({ use, outcome }: EndedCall, now: number): BreakerRecord {
    const { dependency, owner, isProbe, policy } = use;
    const before = this.#read(dependency);
    const after = onOutcome(before, outcome, { now, owner, isProbe, policy });
    this.#write(dependency, before, after, now);
    return after;
  }

  reset(dependency: string): boolean {
    return this.#remove.run(dependency).changes > 0;
  }

  #read(dependency: string): BreakerRecord {
    const row = this.#find.get(dependency);
    return row === undefined ? newBreaker : parseBreaker(parseJson(String(row["record"])));
  }

  #write(dependency: string, before: BreakerRecord, after: BreakerRecord, now: number): void {
    if (after !== before) this.#save.run(dependency, JSON.stringify(after), now);
  }
}
