-- additive

-- Tasks whose last run failed, since when, and how often in sequence. A run that succeeds removes its row.
CREATE TABLE failing_tasks (
  task text PRIMARY KEY,
  since timestamptz NOT NULL DEFAULT now(),
  failures integer NOT NULL DEFAULT 1
);

-- The minute of the day (UTC) of nightly backups: BACKUP_AT of the node that started last.
ALTER TABLE installation ADD COLUMN backup_minute smallint;
