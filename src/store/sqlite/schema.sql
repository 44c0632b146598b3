-- The one schema. Its format is `PRAGMA user_version`; a database of another format is refused untouched.

-- Small facts about the database itself. `indexed_to`: the last journal row that journal_index covers.
CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO meta (name, value) VALUES ('indexed_to', 0);

-- The version of maestro-hive that made the database: it reads this format.
CREATE TABLE made_by (version TEXT NOT NULL);

-- One row per session: what lists and claims need. Everything else is reduced from the journal.
CREATE TABLE sessions (
  number           INTEGER PRIMARY KEY AUTOINCREMENT,   -- never reused: a stale driver must not meet a new session
  id               TEXT NOT NULL UNIQUE,
  key              TEXT UNIQUE,
  team             TEXT NOT NULL,
  team_fingerprint TEXT NOT NULL,
  identity         TEXT NOT NULL,       -- fingerprint of team name and brief: the same key must mean the same work
  status           TEXT NOT NULL CHECK (status IN ('queued','running','paused','parked','completed','failed','canceled')),
  reason           TEXT,
  wake_at          INTEGER,             -- when a session that waits may be taken; a running one has no driver until then
  model            TEXT,
  queue            TEXT NOT NULL,
  priority         INTEGER NOT NULL,
  recoveries       INTEGER NOT NULL DEFAULT 0,          -- takeovers in a row after unclean ends, without a new step
  blocked          TEXT,                -- JSON: why the process that could drive it does not take it
  created_at       INTEGER NOT NULL,
  updated_at       INTEGER NOT NULL,
  status_at        INTEGER NOT NULL     -- when the present status began: parked and finished sessions are listed by it
);
CREATE INDEX sessions_by_status ON sessions (status, number);
CREATE INDEX sessions_by_status_at ON sessions (status, status_at, number);
-- Queried every second: few of many.
CREATE INDEX sessions_by_wake ON sessions (wake_at, number) WHERE wake_at IS NOT NULL;

-- A bounded summary of each session for lists, kept with the rows it comes from.
CREATE TABLE session_cards (
  session    INTEGER PRIMARY KEY REFERENCES sessions (number) ON DELETE CASCADE,
  held_until INTEGER,                  -- a persona waits at least until then; NULL: none does
  card       TEXT NOT NULL
);

-- The dependencies whose breakers a session waits for, kept with its card.
CREATE TABLE session_waits (
  session    INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
  dependency TEXT NOT NULL,
  PRIMARY KEY (session, dependency)
) WITHOUT ROWID;
CREATE INDEX session_waits_by_dependency ON session_waits (dependency);

-- Apart from the cards, so that a search reads no more than it has to. In lower case: id, key, team, beginning of the brief.
CREATE TABLE session_texts (
  session INTEGER PRIMARY KEY REFERENCES sessions (number) ON DELETE CASCADE,
  text    TEXT NOT NULL
);

-- The truth. Append-only and unindexed on purpose: an index by session would dirty a page per session in every
-- commit. Rows are added to journal_index in bulk; a read is the index plus a scan of the short tail. The hash stands
-- before the body, so that reading it does not follow a long body to its end.
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
  hash        TEXT NOT NULL,
  body        TEXT NOT NULL
);
CREATE TABLE journal_index (
  session  INTEGER NOT NULL,
  seq      INTEGER NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (session, seq)
) WITHOUT ROWID;

-- Rows that are not steps, indexed with their own commit: they are few, and a state is reduced from them without
-- reading a step. The hash of the row before is here as well, so that each can be verified alone.
CREATE TABLE transitions (
  session       INTEGER NOT NULL,
  seq           INTEGER NOT NULL,
  position      INTEGER NOT NULL,
  previous_hash TEXT NOT NULL,
  PRIMARY KEY (session, seq)
) WITHOUT ROWID;

-- A process that drives sessions. Its heartbeat covers all its leases at once.
CREATE TABLE owners (
  id              TEXT PRIMARY KEY,
  machine         TEXT NOT NULL,
  boot            TEXT NOT NULL,
  pid_namespace   TEXT NOT NULL,
  pid             INTEGER NOT NULL,
  started         TEXT NOT NULL,
  beats           INTEGER NOT NULL,    -- a counter that grows while the process lives
  beat_uptime_ms  INTEGER NOT NULL,
  beat_at         INTEGER NOT NULL
) WITHOUT ROWID;

-- Which owner may write a session's journal. The epoch only grows; owner is NULL between drivers.
CREATE TABLE leases (
  session INTEGER PRIMARY KEY REFERENCES sessions (number) ON DELETE CASCADE,
  epoch   INTEGER NOT NULL,
  owner   TEXT REFERENCES owners (id)
);
CREATE INDEX leases_by_owner ON leases (owner) WHERE owner IS NOT NULL;

-- Signals of people, from any process; written without a lease, turned into journal rows by the driver.
CREATE TABLE inbox (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
  at      INTEGER NOT NULL,
  body    TEXT NOT NULL
);
CREATE INDEX inbox_by_session ON inbox (session, id);

-- Which artifacts a session's rows point to, so that retention knows which are still needed.
CREATE TABLE artifact_references (
  session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
  sha256  TEXT NOT NULL,
  PRIMARY KEY (session, sha256)
) WITHOUT ROWID;
CREATE INDEX artifact_references_by_hash ON artifact_references (sha256);

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

-- Browsers that are signed in to the dashboard. `hash`: of the secret that only the browser has.
CREATE TABLE logins (
  hash       TEXT PRIMARY KEY,
  user       TEXT,                     -- hash of the user; NULL: the holder of the server's own token
  name       TEXT NOT NULL,
  role       TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  used_at    INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;

-- People with a token or link of their own. `hash`: of the token, or of the code in the link.
CREATE TABLE users (
  name       TEXT PRIMARY KEY,
  folded     TEXT NOT NULL UNIQUE,     -- two names never differ in case alone
  role       TEXT NOT NULL CHECK (role IN ('viewer','operator','admin')),
  kind       TEXT NOT NULL CHECK (kind IN ('token','link')),
  hash       TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  ends_at    INTEGER,                  -- NULL: with its revocation
  is_used    INTEGER NOT NULL DEFAULT 0   -- a link works once
) WITHOUT ROWID;

-- What people did on the server, and what was refused.
CREATE TABLE acts (
  number    INTEGER PRIMARY KEY AUTOINCREMENT,
  at        INTEGER NOT NULL,
  person    TEXT NOT NULL,
  role      TEXT NOT NULL,
  operation TEXT NOT NULL,
  subject   TEXT,
  status    INTEGER NOT NULL,
  request   TEXT NOT NULL
);
CREATE INDEX acts_by_person ON acts (person);

-- Every call that may cost money, failed ones too. Written when its amount is reserved, before the call is made.
CREATE TABLE ledger (
  number              INTEGER PRIMARY KEY AUTOINCREMENT,   -- the reservation; never given twice
  session             INTEGER NOT NULL,                    -- no reference: a deleted session's rows go in slices
  epoch               INTEGER NOT NULL,
  phase               TEXT NOT NULL,
  persona             TEXT NOT NULL,
  round               INTEGER NOT NULL,
  attempt             INTEGER NOT NULL,
  started             INTEGER NOT NULL,                    -- seq of the attempt's first row
  step                INTEGER,                             -- seq of the step that recorded it
  model               TEXT NOT NULL,
  day                 TEXT NOT NULL,                       -- UTC, of the reservation: its budget granted the call
  at                  INTEGER NOT NULL,
  ended_at            INTEGER,
  asked_tokens        INTEGER NOT NULL,
  asked_micro_usd     INTEGER,                             -- NULL: the price is not known
  status              TEXT NOT NULL CHECK (status IN ('open','settled','failed','estimated')),
  failed              INTEGER NOT NULL DEFAULT 0,
  input_tokens        INTEGER,                             -- these NULL: not reported
  cached_input_tokens INTEGER,
  cache_write_tokens  INTEGER,
  output_tokens       INTEGER,
  reasoning_tokens    INTEGER,
  cost_micro_usd      INTEGER,                             -- NULL: not known
  prices              TEXT NOT NULL DEFAULT ''             -- version of the price table; '': none has a price for it
);
CREATE INDEX ledger_by_session ON ledger (session);
CREATE INDEX ledger_by_time ON ledger (at);                -- the calls of the last minute, for the rates of providers
CREATE INDEX ledger_by_step ON ledger (session, step) WHERE step IS NOT NULL;
CREATE INDEX ledger_open ON ledger (session) WHERE status = 'open';

-- Budgets are decided on these totals, kept with every row of the ledger: persona, phase and
-- session within a session, day over all of them (session 0).
CREATE TABLE budget_totals (
  session             INTEGER NOT NULL,
  level               TEXT NOT NULL,
  name                TEXT NOT NULL,
  used_tokens         INTEGER NOT NULL CHECK (used_tokens >= 0),
  used_micro_usd      INTEGER NOT NULL CHECK (used_micro_usd >= 0),
  used_unpriced       INTEGER NOT NULL CHECK (used_unpriced >= 0),         -- calls without a known price
  reserved_tokens     INTEGER NOT NULL CHECK (reserved_tokens >= 0),
  reserved_micro_usd  INTEGER NOT NULL CHECK (reserved_micro_usd >= 0),
  reserved_unpriced   INTEGER NOT NULL CHECK (reserved_unpriced >= 0),
  PRIMARY KEY (session, level, name)
) WITHOUT ROWID;

-- Reports are made of these sums of ended calls. When a session is deleted its sums move to session 0, so a report by
-- day, model, persona or phase says the same before and after pruning; only which session it was is forgotten.
CREATE TABLE usage (
  session             INTEGER NOT NULL,
  day                 TEXT NOT NULL,
  phase               TEXT NOT NULL,
  persona             TEXT NOT NULL,
  model               TEXT NOT NULL,
  prices              TEXT NOT NULL,                       -- version of the price table
  calls               INTEGER NOT NULL,
  failed_calls        INTEGER NOT NULL,
  input_tokens        INTEGER NOT NULL,
  cached_input_tokens INTEGER NOT NULL,
  cache_write_tokens  INTEGER NOT NULL,
  output_tokens       INTEGER NOT NULL,
  reasoning_tokens    INTEGER NOT NULL,
  cost_micro_usd      INTEGER NOT NULL,
  unpriced_calls      INTEGER NOT NULL,
  estimated_tokens    INTEGER NOT NULL,
  estimated_micro_usd INTEGER NOT NULL,
  unreported_calls    INTEGER NOT NULL,                    -- their tokens are not known, and not none
  PRIMARY KEY (session, day, phase, persona, model, prices)
) WITHOUT ROWID;

-- Amounts that did not have to be paid; they move to session 0 like usage.
CREATE TABLE savings (
  session   INTEGER NOT NULL,
  day       TEXT NOT NULL,
  phase     TEXT NOT NULL,
  persona   TEXT NOT NULL,
  model     TEXT NOT NULL,
  kind      TEXT NOT NULL,
  tokens    INTEGER NOT NULL,
  micro_usd INTEGER NOT NULL,          -- less than 0 where a cache cost more than it saved
  unpriced  INTEGER NOT NULL,          -- savings without a known price
  PRIMARY KEY (session, day, phase, persona, model, kind)
) WITHOUT ROWID;

-- Alerts that were raised: each once for a budget, however often a process restarts.
CREATE TABLE budget_alerts (
  session  INTEGER NOT NULL,           -- 0 for a day
  level    TEXT NOT NULL,
  name     TEXT NOT NULL,
  kind     TEXT NOT NULL,
  unit     TEXT NOT NULL,
  budget   INTEGER NOT NULL,           -- a raised budget is another one
  used     INTEGER NOT NULL,
  expected INTEGER,
  at       INTEGER NOT NULL,
  PRIMARY KEY (session, level, name, kind, unit, budget)
) WITHOUT ROWID;
