-- The list of a user's likes and its total are read from the visible posts among them, so that hiding a post changes
-- no like. A like counts for its post unless `user_left`.

DROP TABLE like_totals;

DROP VIEW received_replies;
DROP VIEW visible_posts;
-- Drops the index posts_moving too.
ALTER TABLE posts DROP COLUMN likes_moving_since;

CREATE VIEW visible_posts AS SELECT * FROM posts WHERE hidden_for IS NULL;

-- The replies to a user that the list shows, that count as unread, and that mails list.
CREATE VIEW received_replies AS
  SELECT p.recipient_id, p.received_no, p.id, p.text, p.created_at, author.username
  FROM visible_posts p JOIN users author ON author.id = p.owner_id AND author.deleted_at IS NULL
  WHERE p.received_no IS NOT NULL AND NOT EXISTS (
    SELECT FROM mutes WHERE user_id = p.recipient_id AND muted_id = p.owner_id);

-- Drops the index likes_liked too.
ALTER TABLE likes DROP COLUMN post_hidden;
CREATE UNIQUE INDEX likes_liked ON likes (user_id, id) INCLUDE (post_id, user_left);

DROP FUNCTION change_like_counts(bigint[], int[], bigint[], int[]);

-- Locks posts in the order of their ids, so that two transactions cannot deadlock.
CREATE FUNCTION change_like_counts(post_ids bigint[], steps int[])
RETURNS void STRICT LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  PERFORM FROM posts WHERE id = ANY(post_ids) ORDER BY id FOR NO KEY UPDATE;
  UPDATE posts p SET likes_count = p.likes_count + c.step FROM (
    SELECT post_id, sum(step) AS step FROM unnest(post_ids, steps) c (post_id, step) GROUP BY post_id
  ) c WHERE p.id = c.post_id;
END $$;

CREATE OR REPLACE FUNCTION count_likes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM change_like_counts(array_agg(post_id), array_agg(1)) FROM new_rows WHERE NOT user_left;
  ELSIF TG_OP = 'DELETE' THEN
    PERFORM change_like_counts(array_agg(post_id), array_agg(-1)) FROM old_rows WHERE NOT user_left;
  ELSE
    PERFORM change_like_counts(array_agg(n.post_id), array_agg(CASE WHEN n.user_left THEN -1 ELSE 1 END))
    FROM old_rows o JOIN new_rows n USING (post_id, user_id) WHERE o.user_left <> n.user_left;
  END IF;
  RETURN NULL;
END $$;
