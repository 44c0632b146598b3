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
import { prepareLazily } from "./statement.ts";

/** Breaker transitions, decided inside the writer's transaction, so that all processes see one order. */
export class BreakerTable {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = prepareLazily(database, {
      find: "SELECT record FROM breakers WHERE name = ?",
      save: `INSERT INTO breakers (name, record, updated_at) VALUES (?, ?, ?)
             ON CONFLICT (name) DO UPDATE SET record = excluded.record, updated_at = excluded.updated_at`,
      remove: "DELETE FROM breakers WHERE name = ?",
    });
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
    return this.#sql.remove.run(dependency).changes > 0;
  }

  #read(dependency: string): BreakerRecord {
    const row = this.#sql.find.get(dependency);
    return row === undefined ? newBreaker : parseBreaker(parseJson(String(row["record"])));
  }

  #write(dependency: string, before: BreakerRecord, after: BreakerRecord, now: number): void {
    if (after !== before) this.#sql.save.run(dependency, JSON.stringify(after), now);
  }
}
