import { type Kysely, sql } from 'kysely'

export const isAdditive = false

/**
 * Hides posts by a column instead of moving them into tables of their own, and lets triggers keep
 * every count. Rows of the archive return to `posts` and `likes`; likes of posts that no longer
 * exist go.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...ADD_COLUMNS, ...MOVE_ROWS, ...INDEXES, ...COUNTING]) {
    await sql.raw(statement).execute(db)
  }
}

const ADD_COLUMNS = [
  `ALTER TABLE posts
    ADD hidden_for text CHECK (hidden_for IN ('removed', 'reported', 'deleted', 'left')),
    ADD hidden_reason text,
    ADD hidden_by text,
    ADD hidden_at timestamptz,
    ADD hidden_until timestamptz,
    ADD CHECK ((hidden_for IS NULL) = (hidden_until IS NULL)),
    ADD likes_moving_since timestamptz`,
  // A like counts for its post unless its user has left, and for its user unless its post is
  // hidden.
  `ALTER TABLE likes
    ADD post_hidden boolean NOT NULL DEFAULT false,
    ADD user_left boolean NOT NULL DEFAULT false`,
]

const MOVE_ROWS = [
  // Likes that were still being removed, whose posts no longer exist.
  `DELETE FROM likes USING removed_posts r
    WHERE likes.post_id = r.post_id AND NOT EXISTS (SELECT FROM archived_posts WHERE id = r.post_id)`,
  `INSERT INTO posts (id, owner_id, text, created_at, is_modified, parent_post_id, replied_post_id,
      hidden_for, hidden_reason, hidden_by, hidden_at, hidden_until) OVERRIDING SYSTEM VALUE
    SELECT id, owner_id, text, created_at, is_modified, parent_post_id, replied_post_id,
      CASE why WHEN 'hidden' THEN 'reported' ELSE why END, reason, archived_by, archived_at, until
    FROM archived_posts`,
  // A restore that was interrupted between its steps is completed: the post is back, and its likes
  // below.
  `UPDATE posts SET hidden_for = NULL, hidden_reason = NULL, hidden_by = NULL, hidden_at = NULL, hidden_until = NULL
    WHERE id IN (SELECT id FROM archived_posts WHERE is_restoring)`,
  `INSERT INTO likes (id, post_id, user_id, created_at, user_left) OVERRIDING SYSTEM VALUE
    SELECT a.id, post_id, user_id, a.created_at, u.deleted_at IS NOT NULL
    FROM archived_likes a JOIN users u ON u.id = user_id JOIN posts p ON p.id = post_id
    ON CONFLICT DO NOTHING`,
  `UPDATE likes SET post_hidden = true FROM posts p WHERE p.id = post_id AND p.hidden_for IS NOT NULL`,
  `DROP TABLE archived_posts, archived_likes, removed_posts`,
  `UPDATE posts p SET likes_count = counted.likes, replies_count = counted.replies FROM (
      SELECT id,
        (SELECT count(*) FROM likes WHERE post_id = posts.id AND NOT user_left) AS likes,
        (SELECT count(*) FROM posts reply WHERE reply.replied_post_id = posts.id AND reply.hidden_for IS NULL) AS replies
      FROM posts
    ) counted
    WHERE counted.id = p.id AND (p.likes_count, p.replies_count) IS DISTINCT FROM (counted.likes, counted.replies)`,
  `UPDATE wall_totals SET posts = CASE slot WHEN 0 THEN
      (SELECT count(*) FROM posts WHERE replied_post_id IS NULL AND hidden_for IS NULL) ELSE 0 END`,
  `INSERT INTO owner_totals (user_id, posts, replies)
    SELECT owner_id, count(*) FILTER (WHERE replied_post_id IS NULL), count(replied_post_id)
    FROM posts WHERE hidden_for IS NULL GROUP BY owner_id
    ON CONFLICT (user_id) DO UPDATE SET posts = excluded.posts, replies = excluded.replies`,
  `UPDATE like_totals t SET likes = (
      SELECT count(*) FROM likes WHERE user_id = t.user_id AND NOT post_hidden)`,
]

const INDEXES = [
  `CREATE VIEW visible_posts AS SELECT * FROM posts WHERE hidden_for IS NULL`,
  `DROP INDEX posts_wall, posts_own, posts_own_replies, posts_replies, likes_liked`,
  `CREATE INDEX posts_wall ON posts (id) WHERE replied_post_id IS NULL AND hidden_for IS NULL`,
  `CREATE INDEX posts_own ON posts (owner_id, id) WHERE replied_post_id IS NULL AND hidden_for IS NULL`,
  `CREATE INDEX posts_own_replies ON posts (owner_id, id)
    WHERE replied_post_id IS NOT NULL AND hidden_for IS NULL`,
  `CREATE INDEX posts_replies ON posts (replied_post_id, id)
    WHERE replied_post_id IS NOT NULL AND hidden_for IS NULL`,
  `CREATE INDEX posts_hidden ON posts (owner_id, id) WHERE hidden_for IS NOT NULL`,
  `CREATE INDEX posts_expiry ON posts (hidden_until) WHERE hidden_for IS NOT NULL`,
  `CREATE INDEX posts_moving ON posts (id) WHERE likes_moving_since IS NOT NULL`,
  `CREATE UNIQUE INDEX likes_liked ON likes (user_id, id) INCLUDE (post_id, post_hidden, user_left)`,
]

/**
 * Rows are locked in this order: posts by ascending id, one slot of the wall, owners or users by
 * ascending id. Additions come before subtractions, of which one statement makes only one kind. A
 * total that is subtracted from exists, unless its user is being erased. A connection keeps the
 * plans that it made while the tables were small, so a scan of a whole table is ruled out.
 */
const COUNTING = [
  `CREATE FUNCTION change_post_counts(replied_ids bigint[], owner_ids bigint[], steps int[])
      RETURNS void STRICT LANGUAGE plpgsql SET enable_seqscan = off AS $$
    DECLARE
      wall bigint := (SELECT sum(step) FROM unnest(replied_ids, steps) c (replied_id, step) WHERE replied_id IS NULL);
      wall_slot int := floor(random() * 16);
    BEGIN
      PERFORM FROM posts WHERE id = ANY(replied_ids) ORDER BY id FOR NO KEY UPDATE;
      UPDATE posts p SET replies_count = p.replies_count + c.step FROM (
        SELECT replied_id, sum(step) AS step FROM unnest(replied_ids, steps) c (replied_id, step)
        WHERE replied_id IS NOT NULL GROUP BY replied_id
      ) c WHERE p.id = c.replied_id AND c.step <> 0;
      UPDATE wall_totals SET posts = posts + wall WHERE slot = wall_slot AND wall <> 0;
      INSERT INTO owner_totals AS t (user_id, posts, replies)
        SELECT owner_id, count(*) FILTER (WHERE replied_id IS NULL), count(replied_id)
        FROM unnest(replied_ids, owner_ids, steps) c (replied_id, owner_id, step)
        WHERE step > 0 GROUP BY owner_id ORDER BY owner_id
        ON CONFLICT (user_id) DO UPDATE SET posts = t.posts + excluded.posts, replies = t.replies + excluded.replies;
      IF -1 = ANY(steps) THEN
        PERFORM FROM owner_totals WHERE user_id = ANY(owner_ids) ORDER BY user_id FOR NO KEY UPDATE;
        UPDATE owner_totals t SET posts = t.posts - c.posts, replies = t.replies - c.replies FROM (
          SELECT owner_id, count(*) FILTER (WHERE replied_id IS NULL) AS posts, count(replied_id) AS replies
          FROM unnest(replied_ids, owner_ids, steps) c (replied_id, owner_id, step)
          WHERE step < 0 GROUP BY owner_id
        ) c WHERE t.user_id = c.owner_id;
      END IF;
    END $$`,
  `CREATE FUNCTION count_posts() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'INSERT' THEN
        PERFORM change_post_counts(array_agg(replied_post_id), array_agg(owner_id), array_agg(1))
        FROM new_rows WHERE hidden_for IS NULL;
      ELSIF TG_OP = 'DELETE' THEN
        PERFORM change_post_counts(array_agg(replied_post_id), array_agg(owner_id), array_agg(-1))
        FROM old_rows WHERE hidden_for IS NULL;
        DELETE FROM likes USING old_rows WHERE post_id = old_rows.id;
      ELSE
        PERFORM change_post_counts(array_agg(n.replied_post_id), array_agg(n.owner_id),
          array_agg(CASE WHEN n.hidden_for IS NULL THEN 1 ELSE -1 END))
        FROM old_rows o JOIN new_rows n USING (id) WHERE (o.hidden_for IS NULL) <> (n.hidden_for IS NULL);
      END IF;
      RETURN NULL;
    END $$`,
  `CREATE FUNCTION change_like_counts(post_ids bigint[], of_posts int[], user_ids bigint[], of_users int[])
      RETURNS void STRICT LANGUAGE plpgsql SET enable_seqscan = off AS $$
    BEGIN
      PERFORM FROM posts WHERE id IN (
        SELECT post_id FROM unnest(post_ids, of_posts) c (post_id, step) WHERE step <> 0
      ) ORDER BY id FOR NO KEY UPDATE;
      UPDATE posts p SET likes_count = p.likes_count + c.step FROM (
        SELECT post_id, sum(step) AS step FROM unnest(post_ids, of_posts) c (post_id, step) GROUP BY post_id
      ) c WHERE p.id = c.post_id AND c.step <> 0;
      INSERT INTO like_totals AS t (user_id, likes)
        SELECT user_id, sum(step) FROM unnest(user_ids, of_users) c (user_id, step)
        WHERE step > 0 GROUP BY user_id ORDER BY user_id
        ON CONFLICT (user_id) DO UPDATE SET likes = t.likes + excluded.likes;
      IF -1 = ANY(of_users) THEN
        PERFORM FROM like_totals WHERE user_id IN (
          SELECT user_id FROM unnest(user_ids, of_users) c (user_id, step) WHERE step < 0
        ) ORDER BY user_id FOR NO KEY UPDATE;
        UPDATE like_totals t SET likes = t.likes + c.step FROM (
          SELECT user_id, sum(step) AS step FROM unnest(user_ids, of_users) c (user_id, step)
          WHERE step < 0 GROUP BY user_id
        ) c WHERE t.user_id = c.user_id;
      END IF;
    END $$`,
  `CREATE FUNCTION count_likes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'INSERT' THEN
        PERFORM change_like_counts(array_agg(post_id), array_agg((NOT user_left)::int),
          array_agg(user_id), array_agg((NOT post_hidden)::int))
        FROM new_rows;
      ELSIF TG_OP = 'DELETE' THEN
        PERFORM change_like_counts(array_agg(post_id), array_agg(-(NOT user_left)::int),
          array_agg(user_id), array_agg(-(NOT post_hidden)::int))
        FROM old_rows;
      ELSE
        PERFORM change_like_counts(array_agg(n.post_id), array_agg(o.user_left::int - n.user_left::int),
          array_agg(n.user_id), array_agg(o.post_hidden::int - n.post_hidden::int))
        FROM old_rows o JOIN new_rows n USING (post_id, user_id)
        WHERE (o.user_left, o.post_hidden) <> (n.user_left, n.post_hidden);
      END IF;
      RETURN NULL;
    END $$`,
  ...['post', 'like'].flatMap((name) => [
    `CREATE TRIGGER ${name}s_inserted AFTER INSERT ON ${name}s REFERENCING NEW TABLE AS new_rows
      FOR EACH STATEMENT EXECUTE FUNCTION count_${name}s()`,
    `CREATE TRIGGER ${name}s_updated AFTER UPDATE ON ${name}s REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
      FOR EACH STATEMENT EXECUTE FUNCTION count_${name}s()`,
    `CREATE TRIGGER ${name}s_deleted AFTER DELETE ON ${name}s REFERENCING OLD TABLE AS old_rows
      FOR EACH STATEMENT EXECUTE FUNCTION count_${name}s()`,
  ]),
]
