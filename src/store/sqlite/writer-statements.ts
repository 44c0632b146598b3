import type { DatabaseSync } from "node:sqlite";
import { finalStatuses } from "../../journal/standing.ts";
import { prepareLazily } from "./statement.ts";

/** SQL: the highest position that any journal row ever had, even if that row was deleted. */
export const lastPosition = `(SELECT max(value, coalesce((SELECT max(position) FROM journal), 0))
  FROM meta WHERE name = 'indexed_to')`;

const sql = {
  begin: "BEGIN IMMEDIATE",
  commit: "COMMIT",
  rollback: "ROLLBACK",

  insertSession: `INSERT INTO sessions (id, key, team, team_fingerprint, identity, wake_at, model, queue, priority, status,
       reason, created_at, updated_at, status_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  setStatus: `UPDATE sessions SET status = ?, reason = ?, wake_at = ?, blocked = NULL, updated_at = ?, status_at = ?
     WHERE number = ?`,
  setRunning: `UPDATE sessions SET status_at = CASE status WHEN 'running' THEN status_at ELSE ? END,
       status = 'running', reason = NULL, wake_at = NULL, blocked = NULL, updated_at = ?
     WHERE number = ? AND status != 'canceled'`,
  recovered: "UPDATE sessions SET recoveries = recoveries + 1 WHERE number = ?",
  proved: "UPDATE sessions SET recoveries = 0 WHERE number = ?",
  block: "UPDATE sessions SET blocked = ? WHERE number = ? AND status = ?",
  countRunning: `SELECT sum(s.team = ?), sum(s.model = ?), sum(s.queue = ?) FROM leases l
     JOIN sessions s ON s.number = l.session
     WHERE l.owner IS NOT NULL AND s.status = 'running' AND s.number != ?
       AND l.owner NOT IN (SELECT value FROM json_each(?))`,
  setTeam: "UPDATE sessions SET team_fingerprint = ?, updated_at = ? WHERE number = ?",
  touch: "UPDATE sessions SET updated_at = ? WHERE number = ?",
  wakeFor: `UPDATE sessions SET wake_at = ? WHERE wake_at > ? AND status IN ('parked', 'running')
     AND number IN (SELECT session FROM session_waits WHERE dependency = ?)`,
  isUnfinished: `SELECT 1 FROM sessions WHERE number = ? AND status NOT IN (${finalStatuses.map((status) => `'${status}'`).join(", ")})`,
  hasStatus: "SELECT 1 FROM sessions WHERE number = ? AND status = ?",
  deleteSession: "DELETE FROM sessions WHERE number = ?",

  // Above every position ever used, not only above those that remain: a follower of the journal would skip a reused
  // position as already read. `indexed_to` is at least as high as the positions of deleted rows.
  append: `INSERT INTO journal (position, session, seq, epoch, at, kind, attempt, occurrence, fingerprint, name, body, hash)
     VALUES (${lastPosition} + 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  // OR REPLACE: if the last row was removed from outside, its index entry remains.
  indexTransition:
    "INSERT OR REPLACE INTO transitions (session, seq, position, previous_hash) VALUES (?, ?, ?, ?)",
  erase: "DELETE FROM journal WHERE position = ?",
  tailHead: `SELECT seq, hash FROM journal
     WHERE position > (SELECT value FROM meta WHERE name = 'indexed_to') AND session = ?
     ORDER BY position DESC LIMIT 1`,
  indexedHead: `SELECT j.seq, j.hash FROM journal_index i JOIN journal j ON j.position = i.position
     WHERE i.session = ? ORDER BY i.seq DESC LIMIT 1`,

  indexedTo: "SELECT value FROM meta WHERE name = 'indexed_to'",
  index: `INSERT INTO journal_index (session, seq, position)
     SELECT session, seq, position FROM journal WHERE position > ? ORDER BY session, seq`,
  setIndexedTo: `UPDATE meta SET value = ${lastPosition} WHERE name = 'indexed_to'`,
  indexed: "SELECT position, seq FROM journal_index WHERE session = ? ORDER BY seq LIMIT ?",
  orphan: `SELECT session FROM journal_index WHERE session NOT IN (SELECT number FROM sessions)
     UNION ALL SELECT session FROM ledger WHERE session NOT IN (SELECT number FROM sessions) LIMIT 1`,
  setCompared: `INSERT INTO meta (name, value) VALUES ('folders_compared', ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  unindexTransition: "DELETE FROM transitions WHERE session = ? AND seq = ?",
  unindex: "DELETE FROM journal_index WHERE session = ? AND seq = ?",

  lease: "SELECT epoch, owner FROM leases WHERE session = ?",
  take: `INSERT INTO leases (session, epoch, owner) VALUES (?, ?, ?)
     ON CONFLICT (session) DO UPDATE SET epoch = excluded.epoch, owner = excluded.owner`,
  release: "UPDATE leases SET owner = NULL WHERE session = ? AND epoch = ? AND owner = ?",
  introduce: `INSERT INTO owners (id, machine, boot, pid_namespace, pid, started, beats, beat_uptime_ms, beat_at) VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?)
     ON CONFLICT (id) DO UPDATE
     SET beats = beats + 1, beat_uptime_ms = excluded.beat_uptime_ms, beat_at = excluded.beat_at`,
  beat: "UPDATE owners SET beats = beats + 1, beat_uptime_ms = ?, beat_at = ? WHERE id = ?",
  forgetOwners: "DELETE FROM owners WHERE id NOT IN (SELECT owner FROM leases WHERE owner IS NOT NULL)",
  beatOf: "SELECT beats FROM owners WHERE id = ?",

  signal: "INSERT INTO inbox (session, at, body) VALUES (?, ?, ?)",
  inbox: "SELECT id, at, body FROM inbox WHERE session = ? ORDER BY id",
  forget: "DELETE FROM inbox WHERE id = ?",
  refer: "INSERT INTO artifact_references (session, sha256) VALUES (?, ?) ON CONFLICT DO NOTHING",
  referLike: `INSERT INTO artifact_references (session, sha256)
     SELECT ?, sha256 FROM artifact_references WHERE session = (SELECT number FROM sessions WHERE id = ?)
     ON CONFLICT DO NOTHING`,
};

/** The statements on sessions and their journal. */
export function writerStatements(database: DatabaseSync) {
  return prepareLazily(database, sql, { asLists: true });
}
