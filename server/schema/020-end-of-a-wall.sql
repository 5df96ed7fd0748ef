-- additive

-- What people who want to write or register read once the wall has ended.
ALTER TABLE site_state ADD ended text;
ALTER TABLE site_state ADD CHECK ((ends_at IS NULL) = (ended IS NULL));

-- What is closed now, and why.
CREATE VIEW site_access AS
  SELECT coalesce(registrations_closed, CASE WHEN ends_at <= now() THEN ended END) AS registrations_closed,
    is_invite_only, coalesce(writing_closed, CASE WHEN ends_at <= now() THEN ended END) AS writing_closed, ends_at
  FROM site_state;

CREATE OR REPLACE VIEW write_states AS
  SELECT u.id AS user_id,
    CASE WHEN u.created_at <= now() + interval '1 minute'
      THEN greatest(0, extract(epoch FROM u.created_at + interval '1 day' - now()))::float8 ELSE 0 END AS newcomer_for,
    b.reason AS block_reason, b.until AS block_until, s.writing_closed
  FROM users u LEFT JOIN blocks_in_force b ON b.user_id = u.id CROSS JOIN site_access s;
