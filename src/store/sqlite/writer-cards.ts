import type { DatabaseSync } from "node:sqlite";
import type { RowToWrite } from "../../journal/journal-codec.ts";
import { reduceCard } from "../../journal/reduce.ts";
import { heldUntil, type SessionCard } from "../../journal/session-card.ts";
import type { SessionRow } from "./command.ts";
import { Statement } from "./statement.ts";

const searchedLength = 2_000;

/** The cards of sessions, changed in the transaction of the rows they come from. */
export class CardTable {
  readonly #find;
  readonly #put;
  readonly #drop;
  readonly #describe;

  constructor(database: DatabaseSync) {
    this.#find = new Statement(database, "SELECT card FROM session_cards WHERE session = ?");
    this.#put = new Statement(
      database,
      `INSERT INTO session_cards (session, held_until, card) VALUES (?, ?, ?)
       ON CONFLICT (session) DO UPDATE SET held_until = excluded.held_until, card = excluded.card`,
    );
    this.#drop = new Statement(database, "DELETE FROM session_cards WHERE session = ?");
    this.#describe = new Statement(database, "INSERT INTO session_texts (session, text) VALUES (?, ?)");
  }

  /** What a search finds it by. */
  describe(session: number, { id, key, team }: SessionRow, row: RowToWrite): void {
    const { brief = "" } = row.kind === "session.created" ? (JSON.parse(row.body) as { brief?: string }) : {};
    const text = [id, key ?? "", team, brief.slice(0, searchedLength)].join(" ").toLowerCase();
    this.#describe.run(session, text);
  }

  apply(session: number, row: RowToWrite): void {
    if (row.attempt !== null) return;
    try {
      const found = this.#find.get(session)?.["card"];
      if (found === undefined && row.kind !== "session.created") return;
      const card = found === undefined ? undefined : (JSON.parse(String(found)) as SessionCard);
      const next = reduceCard(card, row);
      if (next !== undefined && next !== card)
        this.#put.run(session, heldUntil(next) ?? null, JSON.stringify(next));
    } catch {
      // A summary must never keep a fact from being recorded; without a card the session is folded when it is listed.
      this.#drop.run(session);
    }
  }
}
