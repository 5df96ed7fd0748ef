import { type Kysely, sql } from 'kysely'

/** Replies that a server without it publishes meanwhile have no number and are not listed. */
export const isAdditive = true

const STATEMENTS = [
  // One row for each user who was answered. `last_no` numbers the replies that they received: in
  // the order of commits, because the transaction of each holds this row.
  `CREATE TABLE answer_states (
    user_id bigint PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    last_no bigint NOT NULL DEFAULT 0,
    seen_no bigint NOT NULL DEFAULT 0,
    wants_mail boolean NOT NULL DEFAULT true,
    mailed_no bigint NOT NULL DEFAULT 0,
    mailed_at timestamptz,
    mails_since_visit smallint NOT NULL DEFAULT 0
  )`,
  `ALTER TABLE posts
    ADD recipient_id bigint,
    ADD received_no bigint,
    ADD is_muted boolean NOT NULL DEFAULT false,
    ADD CHECK ((recipient_id IS NULL) = (received_no IS NULL))`,
  `UPDATE posts SET recipient_id = numbered.recipient_id, received_no = numbered.no FROM (
      SELECT r.id, p.owner_id AS recipient_id,
        row_number() OVER (PARTITION BY p.owner_id ORDER BY r.id) AS no
      FROM posts r JOIN posts p ON p.id = r.replied_post_id WHERE p.owner_id <> r.owner_id
    ) numbered WHERE posts.id = numbered.id`,
  // What came before is no news.
  `INSERT INTO answer_states (user_id, last_no, seen_no, mailed_no)
    SELECT recipient_id, max(received_no), max(received_no), max(received_no)
    FROM posts WHERE recipient_id IS NOT NULL GROUP BY recipient_id`,
  `CREATE UNIQUE INDEX posts_received ON posts (recipient_id, received_no)
    WHERE received_no IS NOT NULL AND hidden_for IS NULL`,
  `CREATE INDEX posts_muted ON posts (owner_id, id) WHERE is_muted`,
  `CREATE OR REPLACE VIEW visible_posts AS SELECT * FROM posts WHERE hidden_for IS NULL`,
  // What the list shows, and so what is unread and what a mail tells.
  `CREATE VIEW received_replies AS
    SELECT p.recipient_id, p.received_no, p.id, p.text, p.created_at, author.username
    FROM visible_posts p JOIN users author ON author.id = p.owner_id AND author.deleted_at IS NULL
    WHERE p.received_no IS NOT NULL`,
]

/** Numbers the replies that each user receives from others, and keeps up to which they were seen. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
