-- Calls whose tokens nobody reported: what a command without a report took is not known, and not nothing.
ALTER TABLE usage ADD COLUMN unreported_calls INTEGER NOT NULL DEFAULT 0;
UPDATE usage SET unreported_calls =
  (SELECT count(*) FROM ledger l
   WHERE l.session = usage.session AND l.day = usage.day AND l.phase = usage.phase AND l.persona = usage.persona
     AND l.model = usage.model AND l.status = 'estimated')
  WHERE estimated_tokens > 0;
