-- Converts a database of 0.1.0 to the schema of 001-schema.sql. Later migrations follow, as in a new database.

-- An operation and its mail are stored in one transaction, or neither is.
DELETE FROM codes WHERE NOT is_mailed;
ALTER TABLE codes DROP is_mailed, ADD mails smallint NOT NULL DEFAULT 0,
  ADD known_by text CHECK (known_by IN ('browser', 'network'));
ALTER TABLE sessions ADD network_hash bytea;

DROP INDEX outbox_new_addresses;
ALTER TABLE outbox ADD domain text;
CREATE INDEX outbox_domain ON outbox (domain) WHERE payload IS NOT NULL;
ALTER TABLE site_state DROP registrations_paused_until;

ALTER TABLE sessions ADD COLUMN browser_hash bytea,
  ADD COLUMN is_token_lost boolean NOT NULL DEFAULT false;
-- A fingerprint, which is the same on every site, makes no browser known any more.
DELETE FROM known_clients;
ALTER TABLE posts ADD COLUMN modified_at timestamptz;
CREATE OR REPLACE VIEW visible_posts AS SELECT * FROM posts WHERE hidden_for IS NULL;

ALTER TABLE users ADD COLUMN consented_at timestamptz,
  ADD COLUMN consent_version text REFERENCES consent_texts;
UPDATE users SET network_hash = substring(network_hash FROM 1 FOR 3) WHERE network_hash IS NOT NULL;
CREATE INDEX users_network ON users (network_hash, created_at) WHERE network_hash IS NOT NULL;
CREATE OR REPLACE VIEW moderator_users AS
  SELECT u.id AS user_id, u.username, m.email_key
  FROM moderators m JOIN users u ON u.email_key = m.email_key
    AND lower(u.email COLLATE "C") = lower(m.email COLLATE "C")
  WHERE NOT EXISTS (SELECT FROM blocks_in_force b WHERE b.user_id = u.id);

DROP TRIGGER post_changed ON posts;
DROP TRIGGER post_gone ON posts;
DROP TRIGGER owner_changed ON users;
DROP FUNCTION note_post_change();
DROP TABLE post_changes;

DELETE FROM sessions WHERE browser_hash IS NULL;
ALTER TABLE sessions ALTER browser_hash SET NOT NULL;

ALTER TABLE reports DROP COLUMN decision_id;
ALTER TABLE appeals DROP COLUMN decision_id;

CREATE INDEX IF NOT EXISTS posts_search ON posts USING gin (search_words(id, text)) WITH (gin_pending_list_limit = 256)
  WHERE hidden_for IS NULL;

-- `mailbox` is what mailboxOf() returns for the address.
ALTER TABLE users ADD COLUMN mailbox text;
WITH parts AS (
  SELECT id, regexp_replace(regexp_replace(email_key, '@[^@]*$', ''), '(.)\+.*$', '\1') AS name,
    substring(email_key FROM '[^@]*$') AS domain
  FROM users
)
UPDATE users SET mailbox = CASE
  WHEN domain IN ('gmail.com', 'googlemail.com') THEN replace(name, '.', '') || '@gmail.com'
  WHEN domain IN ('yandex.ru', 'ya.ru', 'yandex.com', 'yandex.by', 'yandex.kz', 'yandex.ua', 'narod.ru')
    THEN replace(name, '-', '.') || '@yandex.ru'
  ELSE name || '@' || domain END
FROM parts WHERE parts.id = users.id;
CREATE INDEX users_mailbox ON users (mailbox);

ALTER TABLE bans ADD COLUMN covers_all boolean NOT NULL DEFAULT false;

DROP VIEW write_states;
CREATE VIEW write_states AS
  SELECT u.id AS user_id,
    CASE WHEN u.created_at <= now() + interval '1 minute'
      THEN greatest(0, extract(epoch FROM u.created_at + interval '1 day' - now()))::float8 ELSE 0 END AS newcomer_for,
    b.reason AS block_reason, b.until AS block_until, s.writing_closed
  FROM users u LEFT JOIN blocks_in_force b ON b.user_id = u.id CROSS JOIN site_state s;
