-- What lists show and search of a session, kept with the rows it comes from: nobody folds a history for a line of a list.
-- Sessions from before have no card; theirs is folded when somebody looks.
CREATE TABLE session_cards (
  session    INTEGER PRIMARY KEY REFERENCES sessions (number) ON DELETE CASCADE,
  held_until INTEGER,                  -- some persona waits at least until then; NULL: nobody does
  card       TEXT NOT NULL
);

-- Apart from the cards, so that a search reads no more than it has to. In lower case: id, key, team, beginning of the brief.
CREATE TABLE session_texts (
  session INTEGER PRIMARY KEY REFERENCES sessions (number) ON DELETE CASCADE,
  text    TEXT NOT NULL
);
INSERT INTO session_texts (session, text)
  SELECT s.number, lower(s.id || ' ' || coalesce(s.key, '') || ' ' || s.team || ' '
    || coalesce(substr(json_extract(j.body, '$.brief'), 1, 2000), ''))
  FROM sessions s LEFT JOIN journal j ON j.session = s.number AND j.kind = 'session.created';

-- When the present status began: parked and finished sessions are listed by it.
ALTER TABLE sessions ADD COLUMN status_at INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET status_at = updated_at;
CREATE INDEX sessions_by_status_at ON sessions (status, status_at, number);

-- Who is looked for every second: few of many.
CREATE INDEX sessions_by_wake ON sessions (wake_at, number) WHERE wake_at IS NOT NULL;
