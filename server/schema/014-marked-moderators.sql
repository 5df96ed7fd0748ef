-- additive

-- Whether the wall shows people that a name is a moderator's. Nobody is shown whom the release before made a moderator.
ALTER TABLE moderators ADD is_marked boolean NOT NULL DEFAULT false;

CREATE OR REPLACE VIEW moderator_users AS
  SELECT u.id AS user_id, u.username, m.email_key, m.is_marked
  FROM moderators m JOIN users u ON u.email_key = m.email_key
    AND lower(u.email COLLATE "C") = lower(m.email COLLATE "C")
  WHERE NOT EXISTS (SELECT FROM blocks_in_force b WHERE b.user_id = u.id);
