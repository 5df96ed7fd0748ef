-- additive

-- A mute without `until` has no end.
ALTER TABLE mutes ADD until timestamptz;
CREATE INDEX mutes_ending ON mutes (until) WHERE until IS NOT NULL;

CREATE VIEW mutes_in_force AS SELECT * FROM mutes WHERE coalesce(until > now(), true);

CREATE OR REPLACE VIEW received_replies AS
  SELECT recipient_id, received_no, id, text, created_at, username FROM received_posts r
  WHERE is_told AND NOT EXISTS (
    SELECT FROM mutes_in_force WHERE user_id = r.recipient_id AND muted_id = r.owner_id);
