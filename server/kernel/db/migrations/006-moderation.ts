import { type Kysely, sql } from 'kysely'

export const isAdditive = false

/**
 * Creates what moderation needs: the journal, the archive of removed and hidden posts with their
 * likes, blocks, moderators and appeals; and lets reports outlive their posts.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Without foreign keys: the journal outlives what it names.
  `CREATE TABLE journal (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    at timestamptz NOT NULL DEFAULT now(),
    actor text NOT NULL,
    action text NOT NULL,
    user_id bigint,
    post_id bigint,
    reason text,
    details jsonb NOT NULL DEFAULT '{}'
  )`,
  `CREATE INDEX journal_time ON journal (at)`,
  `CREATE INDEX journal_user ON journal (user_id, id) WHERE user_id IS NOT NULL`,
  `CREATE INDEX journal_post ON journal (post_id, id) WHERE post_id IS NOT NULL`,
  `CREATE FUNCTION refuse_journal_change() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the journal is append-only'; END $$`,
  `CREATE TRIGGER journal_append_only BEFORE UPDATE OR DELETE ON journal
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_journal_change()`,

  // The columns of posts, and why each of them is no longer there. 'deleted': by the author, kept
  // as evidence for reports.
  `CREATE TABLE archived_posts (
    id bigint PRIMARY KEY,
    owner_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    text text NOT NULL,
    created_at timestamptz NOT NULL,
    is_modified boolean NOT NULL,
    parent_post_id bigint,
    replied_post_id bigint,
    likes_count integer NOT NULL,
    replies_count integer NOT NULL,
    why text NOT NULL CHECK (why IN ('removed', 'hidden', 'deleted')),
    reason text,
    archived_by text NOT NULL,
    archived_at timestamptz NOT NULL DEFAULT now(),
    until timestamptz NOT NULL,
    is_restoring boolean NOT NULL DEFAULT false
  )`,
  `CREATE INDEX archived_posts_own ON archived_posts (owner_id, id)`,
  `CREATE INDEX archived_posts_expiry ON archived_posts (until)`,
  `CREATE INDEX archived_posts_restoring ON archived_posts (id) WHERE is_restoring`,
  // Likes keep their ids, which order the list of what a user liked.
  `CREATE TABLE archived_likes (
    id bigint NOT NULL,
    post_id bigint NOT NULL,
    user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (post_id, user_id)
  )`,
  `CREATE INDEX archived_likes_user ON archived_likes (user_id)`,
  // Whether the likes move into the archive instead of being removed.
  `ALTER TABLE removed_posts ADD keeps_likes boolean NOT NULL DEFAULT false`,

  `ALTER TABLE reports
    DROP CONSTRAINT reports_post_id_fkey,
    DROP CONSTRAINT reports_post_id_reporter_id_reason_id_key,
    ADD author_id bigint REFERENCES users ON DELETE CASCADE,
    ADD post_text text,
    ADD posted_at timestamptz,
    ADD comment text,
    ADD state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'removed', 'kept')),
    ADD decided_at timestamptz,
    ADD decision_id bigint,
    ADD is_seen boolean NOT NULL DEFAULT false`,
  `UPDATE reports r SET author_id = p.owner_id, post_text = p.text, posted_at = p.created_at
    FROM posts p WHERE p.id = r.post_id`,
  `ALTER TABLE reports
    ALTER author_id SET NOT NULL, ALTER post_text SET NOT NULL, ALTER posted_at SET NOT NULL`,
  // A post whose text was changed after a decision can be reported again.
  `CREATE UNIQUE INDEX reports_once ON reports (post_id, reporter_id, reason_id) WHERE state = 'open'`,
  `CREATE INDEX reports_post ON reports (post_id)`,
  `CREATE INDEX reports_reporter ON reports (reporter_id, id)`,
  // Read with each profile, so it holds only what its reporter has yet to see.
  `CREATE INDEX reports_unseen ON reports (reporter_id) WHERE state <> 'open' AND NOT is_seen`,
  `CREATE INDEX reports_author ON reports (author_id)`,
  `CREATE INDEX reports_decision ON reports (decision_id) WHERE decision_id IS NOT NULL`,
  `CREATE INDEX reports_time ON reports (created_at)`,

  // When the counters were compared with their rows last.
  `ALTER TABLE installation ADD counters_checked_at timestamptz, ADD counter_differences integer`,

  // Without an end a block lasts until it is taken back.
  `CREATE TABLE blocks (
    user_id bigint PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    reason text NOT NULL,
    until timestamptz,
    blocked_by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  )`,

  `CREATE TABLE moderators (
    email_key text PRIMARY KEY,
    email text NOT NULL,
    added_at timestamptz NOT NULL DEFAULT now()
  )`,
  // When the moderators were last told of reports.
  `CREATE TABLE moderator_mails (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    mailed_at timestamptz NOT NULL DEFAULT '-infinity'
  )`,
  `INSERT INTO moderator_mails DEFAULT VALUES`,

  // An author appeals once against the removal of a post.
  `CREATE TABLE appeals (
    post_id bigint PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    text text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'granted', 'refused')),
    decided_at timestamptz,
    decision_id bigint
  )`,
  `CREATE INDEX appeals_user ON appeals (user_id)`,
  `CREATE INDEX appeals_open ON appeals (post_id) WHERE state = 'open'`,
]
