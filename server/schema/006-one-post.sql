-- additive: publish_posts stays, because nodes of the release before publish with it during a rolling upgrade. A later
-- file may drop it, with the type publication.

-- Publishes a post with its Idempotency-Key: a reply, if `target` is the id of a post. `refusal` is why nothing was
-- written; KEY_USED: the key has a post already. Rows are locked in this order: author, replied post, key, recipient,
-- and then the totals by the triggers.
CREATE FUNCTION publish_post(author bigint, words text, request_key text, target bigint,
  OUT new_id bigint, OUT target_owner bigint, OUT refusal text)
LANGUAGE plpgsql AS $$
DECLARE
  replied record;
  recipient bigint;
  number bigint;
BEGIN
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
  target_owner := replied.owner_id;
  IF request_key IS NOT NULL THEN
    INSERT INTO idempotency_keys (owner_id, key, post_id) VALUES (author, request_key, new_id) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      refusal := 'KEY_USED';
      RETURN;
    END IF;
  END IF;

  IF target_owner <> author AND NOT replied.is_muted THEN
    recipient := target_owner;
    INSERT INTO answer_states AS state (user_id, last_no) VALUES (recipient, 1)
    ON CONFLICT (user_id) DO UPDATE SET last_no = state.last_no + 1
    RETURNING last_no INTO number;
  END IF;

  INSERT INTO posts (id, owner_id, text, replied_post_id, parent_post_id, recipient_id, received_no)
    OVERRIDING SYSTEM VALUE
  VALUES (new_id, author, words, target, coalesce(replied.parent_post_id, replied.id), recipient, number);
END $$;
