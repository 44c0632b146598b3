import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "../../../../src/domain/clock.ts";
import { newSessionId } from "../../../../src/domain/ids.ts";
import { defineTeam, persona, phase } from "../../../../src/index.ts";
import type { Transition } from "../../../../src/journal/journal.ts";
import { chainHash, chainStart, encodeEntry } from "../../../../src/journal/journal-codec.ts";
import { reduceCard } from "../../../../src/journal/reduce.ts";
import type { SessionStatus } from "../../../../src/journal/standing.ts";
import { SqliteStore } from "../../../../src/store/sqlite/sqlite-store.ts";
import { definitionJson } from "../../../../src/team/definition/team-definition.ts";

const statuses: readonly SessionStatus[] = [
  "completed",
  "completed",
  "completed",
  "failed",
  "canceled",
  "parked",
];
const authors = ["analyst", "architect", "developer"];
const phases = ["requirements", "design", "implementation", "testing", "deployment"];
const definitionOf = (name: string) =>
  definitionJson(
    defineTeam(name, {
      model: "anthropic/claude",
      budget: { usd: 8 },
      phases: phases.map((each) =>
        phase(each, {
          dependsOn: [],
          personas: authors.map((author) => persona(author, { instructions: "Do it." })),
        }),
      ),
    }).definition,
  );
const definitions = { billing: definitionOf("billing"), product: definitionOf("product") };

/** A state directory with as many finished sessions as a busy year leaves, written in one go. */
export async function writeManySessions(stateDir: string, count: number): Promise<void> {
  const path = join(stateDir, "maestro.db");
  const store = new SqliteStore({ path, clock: systemClock, leaseMs: 15_000 });
  await store.close();
  const database = new DatabaseSync(path);
  const session = database.prepare(
    `INSERT INTO sessions (id, key, team, team_fingerprint, identity, status, reason, created_at, updated_at, status_at, queue, priority)
     VALUES (?, ?, ?, 'f', ?, ?, ?, ?, ?, ?, 'default', 0)`,
  );
  const card = database.prepare("INSERT INTO session_cards (session, card) VALUES (?, ?)");
  const text = database.prepare("INSERT INTO session_texts (session, text) VALUES (?, ?)");
  const usage = database.prepare(
    `INSERT INTO usage (session, day, phase, persona, model, prices, calls, failed_calls, input_tokens, cached_input_tokens,
       cache_write_tokens, output_tokens, reasoning_tokens, cost_micro_usd, unpriced_calls, estimated_tokens,
       estimated_micro_usd, unreported_calls)
     VALUES (?, '2026-11-01', ?, 'analyst', 'anthropic/claude', '', 9, 0, 9000, 4000, 0, 900, 0, 12345, 0, 0, 0, 0)`,
  );
  const journal = database.prepare(
    "INSERT INTO journal (session, seq, epoch, at, kind, body, hash) VALUES (?, 1, 0, ?, 'session.created', ?, ?)",
  );
  const transition = database.prepare(
    "INSERT INTO transitions (session, seq, position, previous_hash) VALUES (?, 1, ?, ?)",
  );
  database.exec("BEGIN");
  for (let number = 1; number <= count; number += 1) {
    const at = Date.UTC(2026, 0, 1) + number * 300_000;
    const id = newSessionId(at);
    const key = `order-${number}`;
    const team = number % 10 === 0 ? "billing" : "product";
    const brief = `Change number ${number} of the parking app: ${"more words about it ".repeat(8)}`;
    const created: Transition = {
      kind: "session.created",
      team,
      definition: definitions[team],
      teamFingerprint: "f",
      brief,
      key,
      model: "anthropic/claude",
    };
    const row = encodeEntry(created);
    const status = number > count - 20 ? "paused" : (statuses[number % statuses.length] ?? "completed");
    const reason = status === "parked" ? "help" : null;
    session.run(id, key, team, `i${number}`, status, reason, at, at + 60_000, at + 60_000);
    card.run(number, JSON.stringify(reduceCard(undefined, { ...row, seq: 1 })));
    text.run(number, `${id} ${key} ${team} ${brief}`.toLowerCase());
    for (const name of phases.slice(0, 3)) usage.run(number, name);
    const hash = chainHash(chainStart(id), { ...row, seq: 1, epoch: 0, at });
    const { lastInsertRowid } = journal.run(number, at, row.body, hash);
    transition.run(number, lastInsertRowid, chainStart(id));
  }
  database.exec("COMMIT");
  database.close();
}
