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
  input_tokens        INTEGER,                             -- these NULL: nobody reported them
  cached_input_tokens INTEGER,
  cache_write_tokens  INTEGER,
  output_tokens       INTEGER,
  reasoning_tokens    INTEGER,
  cost_micro_usd      INTEGER                              -- NULL: not known
);
CREATE INDEX ledger_by_session ON ledger (session);
CREATE INDEX ledger_by_step ON ledger (session, step) WHERE step IS NOT NULL;
CREATE INDEX ledger_open ON ledger (session) WHERE status = 'open';

-- What budgets are decided on, kept with every row of the ledger so that nobody has to add up: persona, phase and
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

-- What reports are made of: ended calls added up. When a session is deleted its sums move to session 0, so a report by
-- day, model, persona or phase says the same before and after pruning; only which session it was is forgotten.
CREATE TABLE usage (
  session             INTEGER NOT NULL,
  day                 TEXT NOT NULL,
  phase               TEXT NOT NULL,
  persona             TEXT NOT NULL,
  model               TEXT NOT NULL,
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
  PRIMARY KEY (session, day, phase, persona, model)
) WITHOUT ROWID;

-- What did not have to be paid; moves to session 0 like usage.
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

-- Which warnings were given: once for each budget, whoever watches and however often it restarts.
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
