-- additive: nodes of the release before publish without names. The views that they read keep their columns, because
-- PostgreSQL refuses a prepared statement whose columns have changed.

-- The first letters of a name, compared by byte: the index users_username has the order of a language.
CREATE INDEX users_by_name ON users (lower(username) text_pattern_ops);

-- Whom a post names by @name, with the names that are in its text, in lower case. The number is one of the same row of
-- `answer_states` as those of replies; it stays with a name that an edit has removed, so that nobody is told twice.
CREATE TABLE mentions (
  post_id bigint NOT NULL REFERENCES posts ON DELETE CASCADE,
  user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  names text[] NOT NULL,
  received_no bigint,
  PRIMARY KEY (post_id, user_id)
);
CREATE UNIQUE INDEX mentions_received ON mentions (user_id, received_no);

-- Replies to posts that were muted at that time, with their numbers. The author's feed has them, because it is public
-- and must not reveal a mute.
CREATE TABLE muted_replies (
  recipient_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  received_no bigint NOT NULL,
  post_id bigint NOT NULL UNIQUE REFERENCES posts ON DELETE CASCADE,
  PRIMARY KEY (recipient_id, received_no)
);

-- The visible replies to a user, and the posts that mention one. PostgreSQL merges the indexes of the three parts only
-- if their conditions stand outside of them.
CREATE VIEW received_posts AS
  SELECT r.recipient_id, r.received_no, r.is_told, p.id, p.owner_id, p.text, p.created_at, author.username
  FROM (
    SELECT recipient_id, received_no, id AS post_id, hidden_for IS NULL AS is_shown, true AS is_told FROM posts
    UNION ALL SELECT user_id, received_no, post_id, names <> '{}', true FROM mentions
    UNION ALL SELECT recipient_id, received_no, post_id, true, false FROM muted_replies
  ) r
  JOIN visible_posts p ON p.id = r.post_id
  JOIN users author ON author.id = p.owner_id AND author.deleted_at IS NULL
  WHERE r.received_no IS NOT NULL AND r.is_shown;

-- What the list of a user shows, that counts as unread, and that mails list.
CREATE OR REPLACE VIEW received_replies AS
  SELECT recipient_id, received_no, id, text, created_at, username FROM received_posts r
  WHERE is_told AND NOT EXISTS (SELECT FROM mutes WHERE user_id = r.recipient_id AND muted_id = r.owner_id);

-- Returns the mentions of a post as its JSON has them; null if there are none. `name` is a former name of the user.
CREATE FUNCTION mentions_in(naming_id bigint) RETURNS json STABLE LANGUAGE sql AS $$
  SELECT json_agg(json_strip_nulls(json_build_object('id', u.id::text, 'username', u.username,
    'name', nullif(name, lower(u.username)))) ORDER BY u.id, name)
  FROM mentions JOIN users u ON u.id = user_id AND u.deleted_at IS NULL CROSS JOIN unnest(names) AS name
  WHERE post_id = naming_id
$$;

-- Returns the users with these names, in the order of the names.
CREATE FUNCTION users_named(written text[]) RETURNS bigint[] STABLE LANGUAGE sql AS $$
  SELECT coalesce(array_agg(u.id ORDER BY place), '{}')
  FROM unnest(written) WITH ORDINALITY AS n (name, place)
  JOIN users u ON lower(u.username) = n.name AND u.deleted_at IS NULL
$$;

-- Takes a number for each of the users, who are all different: in one order, so that two posts cannot deadlock.
CREATE FUNCTION take_received_numbers(user_ids bigint[]) RETURNS void LANGUAGE sql AS $$
  INSERT INTO answer_states AS state (user_id, last_no)
  SELECT id, 1 FROM unnest(user_ids) AS id ORDER BY id
  ON CONFLICT (user_id) DO UPDATE SET last_no = state.last_no + 1
$$;

-- Stores whom a post names; `told` are those who have just taken a number. A row that exists keeps its own number.
CREATE FUNCTION store_mentions(naming_id bigint, named bigint[], written text[], told bigint[]) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO mentions (post_id, user_id, names, received_no)
  SELECT naming_id, u.id, ARRAY[lower(u.username)], last_no
  FROM users u LEFT JOIN answer_states ON user_id = u.id AND u.id = ANY (told)
  -- Somebody may have renamed or deleted their account since the names were looked up.
  WHERE u.id = ANY (named) AND u.deleted_at IS NULL AND lower(u.username) = ANY (written)
  ON CONFLICT (post_id, user_id) DO UPDATE
  SET names = mentions.names || excluded.names, received_no = coalesce(mentions.received_no, excluded.received_no)
$$;

DROP FUNCTION insert_post(bigint, text, text, bigint, int);

-- Publishes a post with its Idempotency-Key: a reply, if `target` is the id of a post. `written` are the names in its
-- text, of which at most five are told: `told` are their ids. The author of the replied post is told of the reply, or
-- has muted it. `refusal` is why nothing was written; KEY_USED: the key has a post already. Rows are locked in this
-- order: users, replied post, key, recipients, and then the totals by the triggers. Fails if it waits for a lock for
-- longer than `lock_wait_ms`; 0: without a limit.
CREATE FUNCTION insert_post(author bigint, words text, request_key text, target bigint, lock_wait_ms int,
  written text[] DEFAULT '{}', OUT refusal text, OUT published hydrated_posts, OUT is_replied_liked boolean,
  OUT mentions json, OUT replied_mentions json, OUT told bigint[])
LANGUAGE plpgsql AS $$
DECLARE
  replied record;
  new_id bigint;
  recipient bigint;
  number bigint;
  named bigint[] := '{}';
BEGIN
  PERFORM set_config('lock_timeout', lock_wait_ms::text, true);
  IF written <> '{}' THEN
    named := users_named(written);
  END IF;
  PERFORM FROM users WHERE id = ANY (named || author) ORDER BY id FOR KEY SHARE;
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

  told := (array_remove(array_remove(named, author), replied.owner_id))[:5];
  IF replied.owner_id <> author THEN
    recipient := replied.owner_id;
  END IF;
  IF told <> '{}' OR recipient IS NOT NULL THEN
    PERFORM take_received_numbers(array_remove(told || recipient, NULL));
  END IF;
  SELECT last_no INTO number FROM answer_states WHERE user_id = recipient;

  INSERT INTO posts (id, owner_id, text, replied_post_id, parent_post_id, recipient_id, received_no)
    OVERRIDING SYSTEM VALUE
  VALUES (new_id, author, words, target, coalesce(replied.parent_post_id, replied.id),
    CASE WHEN NOT replied.is_muted THEN recipient END, CASE WHEN NOT replied.is_muted THEN number END);
  IF replied.is_muted AND recipient IS NOT NULL THEN
    INSERT INTO muted_replies (recipient_id, received_no, post_id) VALUES (recipient, number, new_id);
  END IF;
  IF named <> '{}' THEN
    PERFORM store_mentions(new_id, named, written, told);
    mentions := mentions_in(new_id);
  END IF;

  -- Read before the commit: afterwards another call may already have hidden the post, or answered the replied one.
  SELECT * INTO published FROM hydrated_posts WHERE id = new_id;
  is_replied_liked := EXISTS (SELECT FROM likes WHERE post_id = target AND user_id = author);
  IF strpos(published.r_text, '@') > 0 THEN
    replied_mentions := mentions_in(target);
  END IF;
END $$;

-- Stores whom a locked post names after an edit. A name that its text had before still stands for the same user.
-- Returns the ids of those who are told now.
CREATE FUNCTION edit_mentions(edited_id bigint, written text[]) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
  post record;
  added text[];
  named bigint[];
  told bigint[];
BEGIN
  SELECT own.owner_id, replied.owner_id AS replied_owner_id INTO post
  FROM posts own LEFT JOIN posts replied ON replied.id = own.replied_post_id WHERE own.id = edited_id;
  UPDATE mentions SET names = ARRAY(SELECT unnest(names) INTERSECT SELECT unnest(written)) WHERE post_id = edited_id;
  added := ARRAY(SELECT name FROM unnest(written) AS name WHERE NOT EXISTS (
    SELECT FROM mentions WHERE post_id = edited_id AND name = ANY (names)));
  named := users_named(added);
  PERFORM FROM users WHERE id = ANY (named) ORDER BY id FOR KEY SHARE;

  told := ARRAY(SELECT id FROM unnest(named) WITH ORDINALITY AS n (id, place)
    WHERE id <> post.owner_id AND id IS DISTINCT FROM post.replied_owner_id AND NOT EXISTS (
      SELECT FROM mentions WHERE post_id = edited_id AND user_id = id AND received_no IS NOT NULL)
    ORDER BY place LIMIT greatest(0, 5 - (SELECT count(received_no) FROM mentions WHERE post_id = edited_id)));
  PERFORM take_received_numbers(told);
  PERFORM store_mentions(edited_id, named, added, told);
  DELETE FROM mentions WHERE post_id = edited_id AND names = '{}' AND received_no IS NULL;
  RETURN told;
END $$;
