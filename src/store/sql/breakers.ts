import { type Admission, type BreakerRecord, newBreaker, parseBreaker } from "../../domain/breaker.ts";
import type { Clock } from "../../domain/clock.ts";
import { parseJson } from "../../domain/json.ts";
import type { BreakerStore, BreakerUse, EndedCall } from "../breaker-store.ts";
import type { Submit } from "../command.ts";
import type { SqlQueries } from "./queries.ts";

export class SqlBreakers implements BreakerStore {
  readonly #submit: Submit;
  readonly #clock: Clock;
  readonly #queries: SqlQueries;

  constructor(queries: SqlQueries, submit: Submit, clock: Clock) {
    this.#submit = submit;
    this.#clock = clock;
    this.#queries = queries;
  }

  async admit(use: BreakerUse): Promise<Admission> {
    const record = await this.read(use.dependency);
    // The usual case: nothing to decide and nothing to write.
    if (record.state.kind === "closed" && record.notBefore === null) return { kind: "allowed", record };
    const reply = await this.#submit({ verb: "admit", use, at: this.#clock.now() });
    if (reply.kind !== "admission") throw new Error(`the writer answered ${reply.kind} to admit`);
    return reply.admission;
  }

  async end(call: EndedCall): Promise<void> {
    await this.#submit({ verb: "end-call", call, at: this.#clock.now() });
  }

  async read(dependency: string): Promise<BreakerRecord> {
    const row = await this.#queries.get("SELECT record FROM breakers WHERE name = ?", dependency);
    return row === undefined ? newBreaker : parseBreaker(parseJson(String(row[0])));
  }

  async list() {
    const rows = await this.#queries.all("SELECT name, record FROM breakers ORDER BY name");
    return rows.flatMap(([name, record]) => {
      const read = readRecord(record);
      return read === undefined ? [] : [{ dependency: String(name), record: read }];
    });
  }

  async reset(dependency: string): Promise<boolean> {
    const reply = await this.#submit({ verb: "reset-breaker", dependency, at: this.#clock.now() });
    return reply.kind === "removed" && reply.found;
  }
}

/** A damaged record fails only the calls that need it, not the list of breakers. */
function readRecord(text: unknown): BreakerRecord | undefined {
  try {
    return parseBreaker(parseJson(String(text)));
  } catch {
    return undefined;
  }
}
