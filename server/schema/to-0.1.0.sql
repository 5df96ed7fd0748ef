-- Converts the tables of 001-schema.sql to those of 0.1.0, to load its backups: the inverse of from-0.1.0.sql.

DROP VIEW write_states, received_replies, visible_posts;
DROP TABLE access_token_key, closed_sessions, mail_refusals;
DROP FUNCTION publish_posts, lock_limits, charge_limits, refund_limits;
DROP TYPE publication;

ALTER TABLE codes DROP mails, DROP known_by, ADD is_mailed boolean NOT NULL DEFAULT false;
ALTER TABLE sessions DROP network_hash, DROP browser_hash, DROP is_token_lost;
ALTER TABLE users DROP consented_at, DROP consent_version, DROP mailbox;
DROP INDEX users_network;
DROP TABLE consent_texts;
ALTER TABLE outbox DROP domain;
CREATE INDEX outbox_new_addresses ON outbox (at) WHERE is_to_new_address;
ALTER TABLE site_state ADD registrations_paused_until timestamptz;
ALTER TABLE posts DROP modified_at;
ALTER TABLE reports ADD decision_id bigint;
CREATE INDEX reports_decision ON reports (decision_id) WHERE decision_id IS NOT NULL;
ALTER TABLE appeals ADD decision_id bigint;
ALTER TABLE bans DROP covers_all;

CREATE VIEW visible_posts AS SELECT * FROM posts WHERE hidden_for IS NULL;
CREATE VIEW received_replies AS
  SELECT p.recipient_id, p.received_no, p.id, p.text, p.created_at, author.username
  FROM visible_posts p JOIN users author ON author.id = p.owner_id AND author.deleted_at IS NULL
  WHERE p.received_no IS NOT NULL AND NOT EXISTS (
    SELECT FROM mutes WHERE user_id = p.recipient_id AND muted_id = p.owner_id);
CREATE VIEW write_states AS
  SELECT u.id AS user_id, u.created_at > now() - interval '1 day' AS is_newcomer,
    b.reason AS block_reason, b.until AS block_until, s.writing_closed
  FROM users u LEFT JOIN blocks_in_force b ON b.user_id = u.id CROSS JOIN site_state s;
CREATE OR REPLACE VIEW moderator_users AS
  SELECT u.id AS user_id, u.username, m.email_key
  FROM moderators m JOIN users u ON u.email_key = m.email_key
    AND lower(u.email COLLATE "C") = lower(m.email COLLATE "C");

CREATE TABLE post_changes (
  number bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  xid xid8 NOT NULL UNIQUE DEFAULT pg_current_xact_id()
);
CREATE FUNCTION note_post_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO post_changes DEFAULT VALUES ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER post_changed AFTER UPDATE OF text, hidden_for ON posts FOR EACH ROW
  WHEN ((old.hidden_for IS NULL OR new.hidden_for IS NULL)
    AND (old.text IS DISTINCT FROM new.text OR old.hidden_for IS DISTINCT FROM new.hidden_for))
  EXECUTE FUNCTION note_post_change();
CREATE TRIGGER post_gone AFTER DELETE ON posts FOR EACH ROW WHEN (old.hidden_for IS NULL)
  EXECUTE FUNCTION note_post_change();
CREATE TRIGGER owner_changed AFTER UPDATE OF username, deleted_at ON users FOR EACH ROW
  WHEN (old.username IS DISTINCT FROM new.username OR old.deleted_at IS DISTINCT FROM new.deleted_at)
  EXECUTE FUNCTION note_post_change();

CREATE TABLE kysely_migration (
  name varchar(255) PRIMARY KEY,
  timestamp varchar(255) NOT NULL
);
CREATE TABLE kysely_migration_lock (
  id varchar(255) PRIMARY KEY,
  is_locked integer NOT NULL DEFAULT 0
);
