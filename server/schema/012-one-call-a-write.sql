-- additive: publish_post stays, because nodes of the release before publish with it during a rolling upgrade.
-- A later file may drop it.

-- The visible posts as people read them. The `r_` columns are the replied post; all are null if it is not visible.
CREATE VIEW hydrated_posts AS
  SELECT p.*, r.id AS r_id, r.text AS r_text, r.created_at AS r_created_at, r.is_modified AS r_is_modified,
    r.modified_at AS r_modified_at, r.owner_id AS r_owner_id, r.username AS r_username, r.likes_count AS r_likes_count,
    r.replies_count AS r_replies_count, r.parent_post_id AS r_parent_post_id, r.replied_post_id AS r_replied_post_id
  FROM shown_posts p LEFT JOIN shown_posts r ON r.id = p.replied_post_id;

-- Publishes a post with its Idempotency-Key: a reply, if `target` is the id of a post. `refusal` is why nothing was
-- written; KEY_USED: the key has a post already. Rows are locked in this order: author, replied post, key, recipient,
-- and then the totals by the triggers. Fails if it waits for a lock for longer than `lock_wait_ms`; 0: without a limit.
CREATE FUNCTION insert_post(author bigint, words text, request_key text, target bigint, lock_wait_ms int,
  OUT refusal text, OUT published hydrated_posts, OUT is_replied_liked boolean)
LANGUAGE plpgsql AS $$
DECLARE
  replied record;
  new_id bigint;
  recipient bigint;
  number bigint;
BEGIN
  PERFORM set_config('lock_timeout', lock_wait_ms::text, true);
  PERFORM FROM users WHERE id = author FOR KEY SHARE;
  PERFORM FROM posts WHERE id = target FOR NO KEY UPDATE;

  SELECT id, owner_id, parent_post_id, is_muted INTO replied FROM visible_posts WHERE id = target;
  IF NOT EXISTS (SELECT FROM users WHERE id = author AND deleted_at IS NULL) THEN
    refusal := 'UNAUTHORIZED';
  ELSIF EXISTS (SELECT FROM blocks_in_force WHERE user_id = author) THEN
    refusal := 'BLOCKED';
  ELSIF target IS NOT NULL AND replied.id IS NULL THEN
    refusal := 'POST_NOT_FOUND';
  END IF;
  IF refusal IS NOT NULL THEN
    RETURN;
  END IF;

  new_id := nextval('posts_id_seq');
  IF request_key IS NOT NULL THEN
    INSERT INTO idempotency_keys (owner_id, key, post_id) VALUES (author, request_key, new_id) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      refusal := 'KEY_USED';
      RETURN;
    END IF;
  END IF;

  IF replied.owner_id <> author AND NOT replied.is_muted THEN
    recipient := replied.owner_id;
    INSERT INTO answer_states AS state (user_id, last_no) VALUES (recipient, 1)
    ON CONFLICT (user_id) DO UPDATE SET last_no = state.last_no + 1
    RETURNING last_no INTO number;
  END IF;

  INSERT INTO posts (id, owner_id, text, replied_post_id, parent_post_id, recipient_id, received_no)
    OVERRIDING SYSTEM VALUE
  VALUES (new_id, author, words, target, coalesce(replied.parent_post_id, replied.id), recipient, number);

  -- Read before the commit: afterwards another call may already have hidden the post, or answered the replied one.
  SELECT * INTO published FROM hydrated_posts WHERE id = new_id;
  is_replied_liked := EXISTS (SELECT FROM likes WHERE post_id = target AND user_id = author);
END $$;

-- Adds or removes a like. Returns the post's number of likes; null if there is no such post. Fails if it waits for a
-- lock for longer than `lock_wait_ms`; 0: without a limit.
CREATE FUNCTION set_like(liked_id bigint, liker bigint, is_liked boolean, lock_wait_ms int) RETURNS int
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('lock_timeout', lock_wait_ms::text, true);
  -- Locked before the like and the totals, in the order that prevents deadlocks.
  PERFORM FROM visible_posts WHERE id = liked_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF is_liked THEN
    INSERT INTO likes (post_id, user_id) VALUES (liked_id, liker) ON CONFLICT DO NOTHING;
  ELSE
    DELETE FROM likes WHERE post_id = liked_id AND user_id = liker;
  END IF;
  RETURN (SELECT likes_count FROM posts WHERE id = liked_id);
END $$;
