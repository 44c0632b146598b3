import type { DatabaseSync } from "node:sqlite";
import type { RowToWrite } from "../../journal/journal-codec.ts";
import { reduceCard, searchTextOf } from "../../journal/reduce.ts";
import { heldUntil, type SessionCard, waitsFor } from "../../journal/session-card.ts";
import type { SessionRow } from "../command.ts";
import { prepareLazily } from "./statement.ts";

/** The cards of sessions, changed in the transaction of their rows. */
export class CardTable {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = prepareLazily(database, {
      find: "SELECT card FROM session_cards WHERE session = ?",
      put: `INSERT INTO session_cards (session, held_until, card) VALUES (?, ?, ?)
            ON CONFLICT (session) DO UPDATE SET held_until = excluded.held_until, card = excluded.card`,
      drop: "DELETE FROM session_cards WHERE session = ?",
      wait: "INSERT INTO session_waits (session, dependency) VALUES (?, ?)",
      endWaits: "DELETE FROM session_waits WHERE session = ?",
      describe: "INSERT INTO session_texts (session, text) VALUES (?, ?)",
    });
  }

  /** The text that searches match. */
  describe(session: number, { id, key, team }: SessionRow, row: RowToWrite): void {
    const text = [id, key ?? "", team, searchTextOf(row)].join(" ").toLowerCase();
    this.#sql.describe.run(session, text);
  }

  apply(session: number, row: RowToWrite, seq: number): void {
    if (row.attempt !== null) return;
    try {
      const found = this.#sql.find.get(session)?.["card"];
      const card = found === undefined ? undefined : (JSON.parse(String(found)) as SessionCard);
      const next = reduceCard(card, { ...row, seq });
      if (next === undefined || next === card) return;
      this.#sql.put.run(session, heldUntil(next) ?? null, JSON.stringify(next));
      this.#noteWaits(session, card === undefined ? [] : waitsFor(card), waitsFor(next));
    } catch {
      // A card must never prevent a fact from being recorded. Without a card the session is reduced when it is listed.
      this.#sql.drop.run(session);
      this.#sql.endWaits.run(session);
    }
  }

  #noteWaits(session: number, before: readonly string[], after: readonly string[]): void {
    if (JSON.stringify(before) === JSON.stringify(after)) return;
    this.#sql.endWaits.run(session);
    for (const dependency of after) this.#sql.wait.run(session, dependency);
  }
}
