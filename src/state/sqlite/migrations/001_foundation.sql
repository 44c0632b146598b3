-- Small facts about the database itself. `indexed_to`: the last journal row that journal_index covers.
CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO meta (name, value) VALUES ('indexed_to', 0);

-- One row per session: what lists and claims need. Everything else is folded from the journal.
CREATE TABLE sessions (
  number     INTEGER PRIMARY KEY AUTOINCREMENT,   -- never given twice: a stale driver must not meet a new session
  id         TEXT NOT NULL UNIQUE,
  key        TEXT UNIQUE,
  team       TEXT NOT NULL,
  team_fingerprint TEXT NOT NULL,
  identity   TEXT NOT NULL,            -- fingerprint of team name and brief: the same key must mean the same work
  status     TEXT NOT NULL CHECK (status IN ('queued','running','paused','parked','completed','failed','canceled')),
  reason     TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE INDEX sessions_by_status ON sessions (status, number);

-- The truth. Append-only and unindexed on purpose: an index by session would dirty a page per session in every
-- commit. Rows are added to journal_index in bulk; a read is the index plus a scan of the short tail.
CREATE TABLE journal (
  position    INTEGER PRIMARY KEY,
  session     INTEGER NOT NULL,
  seq         INTEGER NOT NULL,
  epoch       INTEGER NOT NULL,
  at          INTEGER NOT NULL,
  kind        TEXT NOT NULL,
  attempt     INTEGER,
  occurrence  INTEGER,
  fingerprint TEXT,
  name        TEXT,
  body        TEXT NOT NULL,
  hash        TEXT NOT NULL
);
CREATE TABLE journal_index (
  session  INTEGER NOT NULL,
  seq      INTEGER NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (session, seq)
) WITHOUT ROWID;

-- A process that drives sessions. Its heartbeat covers all its leases at once.
CREATE TABLE owners (
  id              TEXT PRIMARY KEY,
  boot            TEXT NOT NULL,
  pid_namespace   TEXT NOT NULL,
  pid             INTEGER NOT NULL,
  started         TEXT NOT NULL,
  beat_uptime_ms  INTEGER NOT NULL,
  beat_at         INTEGER NOT NULL
) WITHOUT ROWID;

-- Who may write a session's journal. The epoch only grows; owner is NULL between drivers.
CREATE TABLE leases (
  session INTEGER PRIMARY KEY REFERENCES sessions (number) ON DELETE CASCADE,
  epoch   INTEGER NOT NULL,
  owner   TEXT REFERENCES owners (id)
);
CREATE INDEX leases_by_owner ON leases (owner) WHERE owner IS NOT NULL;

-- What people say from other processes; written without a lease, turned into journal rows by the driver.
CREATE TABLE inbox (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
  at      INTEGER NOT NULL,
  body    TEXT NOT NULL
);
CREATE INDEX inbox_by_session ON inbox (session, id);

-- Which artifacts a session's rows point to, so that retention knows what is still needed.
CREATE TABLE artifact_references (
  session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
  sha256  TEXT NOT NULL,
  PRIMARY KEY (session, sha256)
) WITHOUT ROWID;
CREATE INDEX artifact_references_by_hash ON artifact_references (sha256);
