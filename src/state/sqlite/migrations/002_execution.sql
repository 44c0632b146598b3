-- One circuit breaker per dependency, shared by all sessions and processes.
CREATE TABLE breakers (
  name       TEXT PRIMARY KEY,
  record     TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;

-- The outbox: requests for help, written with the fact they are about and delivered later, once per problem.
CREATE TABLE tickets (
  id          TEXT PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE,
  session     TEXT,
  ticket      TEXT NOT NULL,
  delivery    TEXT NOT NULL,
  due_at      INTEGER,                 -- NULL once delivered
  raised_at   INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX tickets_by_due ON tickets (due_at) WHERE due_at IS NOT NULL;

-- When a session parked for a breaker may be taken up again by itself.
ALTER TABLE sessions ADD COLUMN wake_at INTEGER;
