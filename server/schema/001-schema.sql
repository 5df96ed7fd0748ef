-- The tables by feature, then views, functions, triggers and indexes. All hashes of people's data are keyed.

-- `version` is the beginning of the text's SHA-256.
CREATE TABLE consent_texts (
  version text PRIMARY KEY,
  text text NOT NULL,
  since timestamptz NOT NULL DEFAULT now()
);

-- Posts of a user with `deleted_at` are not shown. `is_returning` is set while a job restores the rows of the account.
CREATE TABLE users (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  username text NOT NULL,
  email text NOT NULL,
  email_key text NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  is_returning boolean NOT NULL DEFAULT false,
  network_hash bytea,
  consented_at timestamptz,
  consent_version text REFERENCES consent_texts,
  -- Equal for all spellings of one mailbox.
  mailbox text
);

-- Former usernames in lower case, which only their former owners may take.
CREATE TABLE released_usernames (
  name text PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  released_at timestamptz NOT NULL DEFAULT now()
);

-- Usernames of erased users, which nobody may take.
CREATE TABLE reserved_usernames (
  name_hash bytea PRIMARY KEY
);

-- Changes that can be undone. An undo also undoes the user's later changes, ordered by `number`.
CREATE TABLE email_changes (
  id text PRIMARY KEY,
  number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  old_email text NOT NULL,
  expires_at timestamptz NOT NULL
);

-- Operations that a mailed code completes. `user_id` is 0 if nobody is signed in. `mails` counts mails with the code.
CREATE TABLE codes (
  id text PRIMARY KEY,
  purpose text NOT NULL CHECK (purpose IN ('login', 'registration', 'email-change', 'account-deletion')),
  email text NOT NULL,
  email_key text NOT NULL,
  user_id bigint NOT NULL,
  client_hash bytea NOT NULL,
  device jsonb,
  attempts integer NOT NULL DEFAULT 0,
  mails smallint NOT NULL DEFAULT 0,
  known_by text CHECK (known_by IN ('browser', 'network')),
  mailed_at timestamptz,
  mail_state text NOT NULL DEFAULT 'queued' CHECK (mail_state IN ('queued', 'sent', 'retrying', 'refused')),
  expires_at timestamptz NOT NULL,
  UNIQUE (purpose, email_key, user_id, client_hash)
);

-- The previous secret is valid until the client has sent the current one (`seen`). With `is_token_lost` the
-- browser's cookie alone proves the session.
CREATE TABLE sessions (
  id uuid PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  secret_hash bytea NOT NULL,
  previous_hash bytea,
  seen boolean NOT NULL DEFAULT true,
  rotated_at timestamptz NOT NULL DEFAULT now(),
  used_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now(),
  client_hash bytea NOT NULL,
  browser_hash bytea NOT NULL,
  is_token_lost boolean NOT NULL DEFAULT false,
  network_hash bytea,
  user_agent text NOT NULL,
  user_agent_version text NOT NULL,
  os text NOT NULL
);

-- Why a session was closed, for the browser that it belonged to. It names no user.
CREATE TABLE closed_sessions (
  id uuid PRIMARY KEY,
  secret_hashes bytea[] NOT NULL,
  reason text NOT NULL,
  closed_at timestamptz NOT NULL DEFAULT now()
);

-- No backup contains the key, so that a stolen backup cannot be used to forge access tokens.
CREATE TABLE access_token_key (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  key bytea NOT NULL DEFAULT sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
);
INSERT INTO access_token_key DEFAULT VALUES;

CREATE TABLE known_clients (
  user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  client_hash bytea NOT NULL,
  used_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, client_hash)
);

-- A reply outlives the post that it answers. `recipient_id` is the author of that post if it is another user, and
-- `received_no` numbers the replies to this author. `likes_moving_since` is set while a job updates the flags of the
-- post's likes. The post is purged at `hidden_until`. The owner of a post with `is_muted` receives no replies to it.
CREATE TABLE posts (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  owner_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  text text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  is_modified boolean NOT NULL DEFAULT false,
  modified_at timestamptz,
  parent_post_id bigint,
  replied_post_id bigint,
  recipient_id bigint,
  received_no bigint,
  is_muted boolean NOT NULL DEFAULT false,
  likes_count integer NOT NULL DEFAULT 0 CHECK (likes_count >= 0),
  replies_count integer NOT NULL DEFAULT 0 CHECK (replies_count >= 0),
  hidden_for text CHECK (hidden_for IN ('removed', 'reported', 'deleted', 'left')),
  hidden_reason text,
  hidden_by text,
  hidden_at timestamptz,
  hidden_until timestamptz,
  likes_moving_since timestamptz,
  CHECK ((hidden_for IS NULL) = (hidden_until IS NULL)),
  CHECK ((recipient_id IS NULL) = (received_no IS NULL))
) WITH (fillfactor = 85);

-- Keys by which a retried publication finds its post. They outlive the post.
CREATE TABLE idempotency_keys (
  owner_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  key text NOT NULL,
  post_id bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (owner_id, key)
);

-- The number of posts on the wall is the sum of the slots: publications would queue for a single row.
CREATE TABLE wall_totals (
  slot smallint PRIMARY KEY,
  posts bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
INSERT INTO wall_totals (slot) SELECT generate_series(0, 15);

CREATE TABLE owner_totals (
  user_id bigint PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  posts bigint NOT NULL DEFAULT 0 CHECK (posts >= 0),
  replies bigint NOT NULL DEFAULT 0 CHECK (replies >= 0)
) WITH (fillfactor = 70);

-- `id` orders the likes of a user. A like counts for its post unless `user_left`, for its user unless `post_hidden`.
CREATE TABLE likes (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  post_id bigint NOT NULL,
  user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  post_hidden boolean NOT NULL DEFAULT false,
  user_left boolean NOT NULL DEFAULT false,
  PRIMARY KEY (post_id, user_id)
);

CREATE TABLE like_totals (
  user_id bigint PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  likes bigint NOT NULL DEFAULT 0 CHECK (likes >= 0)
) WITH (fillfactor = 70);

-- A reply's transaction holds the recipient's row, so that `last_no` numbers replies in the order of their commits.
CREATE TABLE answer_states (
  user_id bigint PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  last_no bigint NOT NULL DEFAULT 0,
  seen_no bigint NOT NULL DEFAULT 0,
  wants_mail boolean NOT NULL DEFAULT true,
  mailed_no bigint NOT NULL DEFAULT 0,
  mailed_at timestamptz,
  mails_since_visit smallint NOT NULL DEFAULT 0
);

CREATE TABLE mutes (
  user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  muted_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, muted_id),
  CHECK (user_id <> muted_id)
);

CREATE TABLE report_reasons (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  name text NOT NULL UNIQUE,
  place integer NOT NULL
);
INSERT INTO report_reasons (place, name) VALUES
  (1, 'Спам или реклама'),
  (2, 'Оскорбления или травля'),
  (3, 'Угрозы или призывы к насилию'),
  (4, 'Вражда к группе людей'),
  (5, 'Личные данные без согласия'),
  (6, 'Мошенничество или обман'),
  (7, 'Материалы сексуального характера'),
  (8, 'Другое нарушение');

-- A report stores the post as it was, and outlives it.
CREATE TABLE reports (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  post_id bigint NOT NULL,
  reporter_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  reason_id bigint NOT NULL REFERENCES report_reasons,
  created_at timestamptz NOT NULL DEFAULT now(),
  author_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  post_text text NOT NULL,
  posted_at timestamptz NOT NULL,
  comment text,
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'removed', 'kept')),
  decided_at timestamptz,
  is_seen boolean NOT NULL DEFAULT false
);

CREATE TABLE appeals (
  post_id bigint PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  text text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'granted', 'refused')),
  decided_at timestamptz
);

CREATE TABLE blocks (
  user_id bigint PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  reason text NOT NULL,
  until timestamptz,
  blocked_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- The mailboxes of blocked users, so that a block outlives the account.
CREATE TABLE blocked_mailboxes (
  mailbox_hash bytea PRIMARY KEY,
  reason text NOT NULL,
  until timestamptz
);

-- Blocks and bans without `until` have no end.
CREATE TABLE bans (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  kind text NOT NULL CHECK (kind IN ('domain', 'network', 'email')),
  value text NOT NULL,
  network inet GENERATED ALWAYS AS (CASE kind WHEN 'network' THEN value::inet END) STORED,
  -- Whether reading and writing are closed too.
  covers_all boolean NOT NULL DEFAULT false,
  reason text,
  actor text,
  until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (kind, value)
);

CREATE TABLE moderators (
  email_key text PRIMARY KEY,
  email text NOT NULL,
  added_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE moderator_mails (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  mailed_at timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO moderator_mails DEFAULT VALUES;

-- The journal is append-only, and outlives the users and posts that it names.
CREATE TABLE journal (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  at timestamptz NOT NULL DEFAULT now(),
  actor text NOT NULL,
  action text NOT NULL,
  user_id bigint,
  post_id bigint,
  reason text,
  details jsonb NOT NULL DEFAULT '{}'
);

CREATE TABLE access_journal (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  at timestamptz NOT NULL DEFAULT now(),
  action text NOT NULL,
  user_id bigint NOT NULL,
  post_id bigint,
  address text NOT NULL,
  port integer
);

-- Registrations and writing are open unless a reason is set; the reason is shown.
CREATE TABLE site_state (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  registrations_closed text,
  is_invite_only boolean NOT NULL DEFAULT false,
  writing_closed text,
  notice text,
  notice_since timestamptz,
  notice_until timestamptz,
  mails_refused_at timestamptz,
  CHECK ((notice IS NULL) = (notice_since IS NULL))
);
INSERT INTO site_state DEFAULT VALUES;

CREATE TABLE invitations (
  token_hash bytea PRIMARY KEY,
  id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  note text,
  uses integer NOT NULL DEFAULT 1,
  uses_left integer NOT NULL DEFAULT 1 CHECK (uses_left BETWEEN 0 AND uses),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);

-- `arrival` is when the next event of a key is due if all events keep the pace of the limit (GCRA).
CREATE TABLE rate_limits (
  key text PRIMARY KEY,
  arrival timestamptz NOT NULL,
  charged_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE installation (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  secret_fingerprint bytea,
  version text,
  counters_checked_at timestamptz,
  counter_differences integer,
  backup_at timestamptz,
  backup_bytes bigint,
  backup_failed text,
  backup_verified_at timestamptz,
  backup_verified_copy timestamptz,
  backup_verification_failed text
);
INSERT INTO installation DEFAULT VALUES;

CREATE TABLE additive_migrations (
  name text PRIMARY KEY
);

-- `payload`, with the address, and `key` are removed when a mail is sent or given up. `is_unanswered`: it was sent
-- whole, and no reply came. `domain` is the recipient's, in ASCII.
CREATE TABLE outbox (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  task text NOT NULL,
  key text UNIQUE,
  payload jsonb,
  is_urgent boolean NOT NULL DEFAULT false,
  is_to_new_address boolean NOT NULL DEFAULT false,
  domain text,
  queued_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL DEFAULT now(),
  claimed_until timestamptz,
  state text NOT NULL DEFAULT 'queued',
  at timestamptz NOT NULL DEFAULT now(),
  tries integer NOT NULL DEFAULT 0,
  is_unanswered boolean NOT NULL DEFAULT false,
  masked text NOT NULL,
  address_hash bytea,
  error text,
  reply integer,
  answer text,
  CHECK (CASE WHEN state IN ('queued', 'retrying', 'limited', 'slowed') THEN payload IS NOT NULL
    ELSE state IN ('sent', 'refused', 'expired') AND payload IS NULL AND key IS NULL END)
);

-- Codes that the mail server refused because of the mailbox, by the network that asked for them.
CREATE TABLE mail_refusals (
  at timestamptz NOT NULL DEFAULT now(),
  network_hash bytea NOT NULL
);

CREATE TABLE mail_pause (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  refused_since timestamptz,
  next_try_at timestamptz
);
INSERT INTO mail_pause DEFAULT VALUES;

CREATE TABLE recurring_jobs (
  task text PRIMARY KEY,
  period bigint NOT NULL
);

CREATE VIEW visible_posts AS SELECT * FROM posts WHERE hidden_for IS NULL;

-- The replies to a user that the list shows, that count as unread, and that mails list.
CREATE VIEW received_replies AS
  SELECT p.recipient_id, p.received_no, p.id, p.text, p.created_at, author.username
  FROM visible_posts p JOIN users author ON author.id = p.owner_id AND author.deleted_at IS NULL
  WHERE p.received_no IS NOT NULL AND NOT EXISTS (
    SELECT FROM mutes WHERE user_id = p.recipient_id AND muted_id = p.owner_id);

CREATE VIEW blocks_in_force AS SELECT * FROM blocks WHERE coalesce(until > now(), true);

CREATE VIEW notice_in_force AS
  SELECT notice AS text, notice_since AS since, notice_until AS until
  FROM site_state WHERE notice IS NOT NULL AND coalesce(notice_until > now(), true);

CREATE VIEW write_states AS
  SELECT u.id AS user_id,
    -- How many seconds of the account's first day are left; 0 if a clock that was ahead has set its beginning.
    CASE WHEN u.created_at <= now() + interval '1 minute'
      THEN greatest(0, extract(epoch FROM u.created_at + interval '1 day' - now()))::float8 ELSE 0 END AS newcomer_for,
    b.reason AS block_reason, b.until AS block_until, s.writing_closed
  FROM users u LEFT JOIN blocks_in_force b ON b.user_id = u.id CROSS JOIN site_state s;

-- The addresses must be equal but for ASCII case: an address with the same key may be somebody else's.
CREATE VIEW moderator_users AS
  SELECT u.id AS user_id, u.username, m.email_key
  FROM moderators m JOIN users u ON u.email_key = m.email_key
    AND lower(u.email COLLATE "C") = lower(m.email COLLATE "C")
  WHERE NOT EXISTS (SELECT FROM blocks_in_force b WHERE b.user_id = u.id);

-- A post or reply to be published. `refusal` is why it is not; KEY_USED: the key has a post already.
CREATE TYPE publication AS (
  place bigint,
  id bigint,
  owner_id bigint,
  username text,
  text text,
  key text,
  replied_id bigint,
  replied_owner_id bigint,
  root_id bigint,
  recipient_id bigint,
  refusal text
);

-- Publishes posts and replies with their Idempotency-Keys, and returns what became of each. A lock that is held
-- elsewhere for longer than `lock_wait_ms` fails all of them; 0 waits. Rows are locked in this order, each kind by
-- ascending key: authors, replied posts, keys, recipients, and then the totals by the triggers.
CREATE FUNCTION publish_posts(owner_ids bigint[], may_write boolean[], texts text[], keys text[], replied_ids bigint[],
  lock_wait_ms int)
RETURNS SETOF publication LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  asked publication[];
  claimed_ids bigint[];
BEGIN
  PERFORM set_config('lock_timeout', lock_wait_ms::text, true);
  PERFORM FROM users WHERE id = ANY (owner_ids) ORDER BY id FOR KEY SHARE;
  PERFORM FROM posts WHERE id = ANY (replied_ids) ORDER BY id FOR NO KEY UPDATE;

  asked := ARRAY(
    SELECT ROW(place, nextval('posts_id_seq'), p.owner_id, author.username, p.text, p.key, p.replied_id,
      replied.owner_id, coalesce(replied.parent_post_id, replied.id),
      CASE WHEN replied.owner_id <> p.owner_id AND NOT replied.is_muted THEN replied.owner_id END,
      CASE
        WHEN author.id IS NULL OR p.may_write IS NOT TRUE THEN 'UNAUTHORIZED'
        WHEN EXISTS (SELECT FROM blocks_in_force WHERE user_id = p.owner_id) THEN 'BLOCKED'
        WHEN p.replied_id IS NOT NULL AND replied.id IS NULL THEN 'POST_NOT_FOUND'
      END)::publication
    FROM unnest(owner_ids, may_write, texts, keys, replied_ids)
      WITH ORDINALITY AS p (owner_id, may_write, text, key, replied_id, place)
    LEFT JOIN users author ON author.id = p.owner_id AND author.deleted_at IS NULL
    LEFT JOIN visible_posts replied ON replied.id = p.replied_id
    ORDER BY place);

  WITH claimed AS (
    INSERT INTO idempotency_keys (owner_id, key, post_id)
    SELECT owner_id, key, id FROM unnest(asked)
    WHERE refusal IS NULL AND key IS NOT NULL ORDER BY owner_id, key, place
    ON CONFLICT DO NOTHING RETURNING post_id
  )
  SELECT array_agg(post_id) INTO claimed_ids FROM claimed;
  FOR n IN 1 .. cardinality(asked) LOOP
    IF asked[n].refusal IS NULL AND asked[n].key IS NOT NULL AND (asked[n].id = ANY (claimed_ids)) IS NOT TRUE THEN
      asked[n].refusal := 'KEY_USED';
    END IF;
  END LOOP;

  INSERT INTO answer_states AS state (user_id, last_no)
  SELECT recipient_id, count(*) FROM unnest(asked)
  WHERE refusal IS NULL AND recipient_id IS NOT NULL GROUP BY recipient_id ORDER BY recipient_id
  ON CONFLICT (user_id) DO UPDATE SET last_no = state.last_no + excluded.last_no;

  INSERT INTO posts (id, owner_id, text, replied_post_id, parent_post_id, recipient_id, received_no)
    OVERRIDING SYSTEM VALUE
  SELECT id, owner_id, text, replied_id, root_id, recipient_id,
    last_no + 1 - row_number() OVER (PARTITION BY recipient_id ORDER BY id DESC)
  FROM unnest(asked) LEFT JOIN answer_states ON user_id = recipient_id
  WHERE refusal IS NULL ORDER BY id;

  RETURN QUERY SELECT * FROM unnest(asked);
END $$;

-- Makes calls that count for the same keys wait for each other. Locks in one order, so that they cannot deadlock.
CREATE FUNCTION lock_limits(keys text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(number)
  FROM (SELECT DISTINCT hashtextextended(key, 0) AS number FROM unnest(keys) AS key ORDER BY number) AS locks;
END $$;

-- Counts one event for each key, or none. Returns the waits in seconds. `bursts` pass at once, then one in `steps` s.
CREATE FUNCTION charge_limits(keys text[], steps float8[], bursts float8[]) RETURNS float8[] LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz;
  waits float8[];
BEGIN
  PERFORM lock_limits(keys);
  -- now() could be earlier than what others have counted meanwhile.
  moment := clock_timestamp();

  -- Counts of a clock that was ahead are ignored.
  waits := ARRAY(
    SELECT coalesce(greatest(0,
      extract(epoch FROM counted.arrival - moment) - (asked.burst - 1) * asked.step), 0)
    FROM unnest(keys, steps, bursts) WITH ORDINALITY AS asked (key, step, burst, place)
    LEFT JOIN rate_limits AS counted ON counted.key = asked.key
      AND counted.charged_at <= moment + interval '1 minute'
    ORDER BY asked.place);
  IF 0 < ANY (waits) THEN
    RETURN waits;
  END IF;

  INSERT INTO rate_limits AS counted (key, arrival, charged_at)
  SELECT asked.key, moment + asked.step * interval '1 second', moment
  FROM unnest(keys, steps) AS asked (key, step)
  ON CONFLICT (key) DO UPDATE SET
    charged_at = excluded.charged_at,
    arrival = excluded.arrival + CASE
      WHEN counted.charged_at > moment + interval '1 minute' THEN interval '0'
      ELSE greatest(interval '0', counted.arrival - moment) END;
  RETURN waits;
END $$;

-- Takes back one event for each element of `keys`.
CREATE FUNCTION refund_limits(keys text[], steps float8[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM lock_limits(keys);
  UPDATE rate_limits AS counted SET arrival = counted.arrival - refunded.total
  FROM (SELECT key, sum(step) * interval '1 second' AS total
    FROM unnest(keys, steps) AS asked (key, step) GROUP BY key) AS refunded
  WHERE counted.key = refunded.key;
END $$;

-- Counts. Rows are locked in the order of their ids, so that two transactions cannot deadlock. With a generic
-- plan a like takes 0.45 ms instead of 0.72: PostgreSQL would plan each statement anew.

CREATE FUNCTION change_post_counts(replied_ids bigint[], owner_ids bigint[], steps int[])
RETURNS void STRICT LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  wall bigint := (SELECT sum(step) FROM unnest(replied_ids, steps) c (replied_id, step) WHERE replied_id IS NULL);
  wall_slot int := floor(random() * 16);
BEGIN
  -- An UPDATE that finds no row would fire the triggers of posts too.
  IF array_remove(replied_ids, NULL) <> '{}' THEN
    PERFORM FROM posts WHERE id = ANY(replied_ids) ORDER BY id FOR NO KEY UPDATE;
    UPDATE posts p SET replies_count = p.replies_count + c.step FROM (
      SELECT replied_id, sum(step) AS step FROM unnest(replied_ids, steps) c (replied_id, step)
      WHERE replied_id IS NOT NULL GROUP BY replied_id
    ) c WHERE p.id = c.replied_id AND c.step <> 0;
  END IF;
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
END $$;

CREATE FUNCTION count_posts() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;

CREATE FUNCTION change_like_counts(post_ids bigint[], of_posts int[], user_ids bigint[], of_users int[])
RETURNS void STRICT LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
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
END $$;

CREATE FUNCTION count_likes() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;

-- Returns the words of a text. In a cluster with LC_CTYPE C, PostgreSQL's parser would take «» for letters. The
-- collation pg_c_utf8 (PostgreSQL 17 and newer) knows all letters whatever the locale of the cluster.
DO $do$
BEGIN
  EXECUTE format($sql$
    CREATE FUNCTION search_text(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN regexp_replace(lower(translate($1, U&'ёЁ\0301\0300\00AD', 'ее') %s), '[^[:alnum:]]+', ' ', 'g')
  $sql$, (SELECT 'COLLATE pg_c_utf8' FROM pg_collation WHERE collname = 'pg_c_utf8'));
END $do$;

-- Returns the stems of a post, and a word for its block of 8192 posts, by which the index finds the newest posts with
-- a frequent word without reading all posts that have it. No search text contains that word.
CREATE FUNCTION search_words(id bigint, text text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN to_tsvector('pg_catalog.russian', search_text($2)) || array_to_tsvector(ARRAY['#' || ($1 >> 13)]);

-- Returns a query for the blocks from `first` to `last`, counted back from the block of the newest post.
CREATE FUNCTION search_blocks(newest bigint, first integer, last integer) RETURNS tsquery
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT string_agg(format('''#%s''', ($1 >> 13) - n), '|')::tsquery FROM generate_series($2, $3) n);

CREATE FUNCTION refuse_journal_change() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the journal is append-only'; END $$;

CREATE TRIGGER posts_inserted AFTER INSERT ON posts REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_posts();
CREATE TRIGGER posts_updated AFTER UPDATE ON posts REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_posts();
CREATE TRIGGER posts_deleted AFTER DELETE ON posts REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_posts();
CREATE TRIGGER likes_inserted AFTER INSERT ON likes REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_likes();
CREATE TRIGGER likes_updated AFTER UPDATE ON likes REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_likes();
CREATE TRIGGER likes_deleted AFTER DELETE ON likes REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_likes();
CREATE TRIGGER journal_append_only BEFORE UPDATE OR DELETE ON journal
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_journal_change();

-- Indexes. Usernames are ASCII, so lower() means the same under every collation.

CREATE UNIQUE INDEX users_username ON users (lower(username));
CREATE INDEX users_mailbox ON users (mailbox);
CREATE INDEX users_network ON users (network_hash, created_at) WHERE network_hash IS NOT NULL;
CREATE INDEX users_moving ON users (id) WHERE deleted_at IS NOT NULL OR is_returning;
CREATE INDEX released_usernames_user ON released_usernames (user_id);
CREATE INDEX released_usernames_time ON released_usernames (released_at);
CREATE INDEX email_changes_user ON email_changes (user_id);
CREATE INDEX email_changes_expiry ON email_changes (expires_at);

CREATE INDEX codes_expiry ON codes (expires_at);
CREATE INDEX sessions_user ON sessions (user_id, created_at);
CREATE INDEX known_clients_used ON known_clients (used_at);

CREATE INDEX posts_wall ON posts (id) WHERE replied_post_id IS NULL AND hidden_for IS NULL;
CREATE INDEX posts_own ON posts (owner_id, id) WHERE replied_post_id IS NULL AND hidden_for IS NULL;
CREATE INDEX posts_own_replies ON posts (owner_id, id) WHERE replied_post_id IS NOT NULL AND hidden_for IS NULL;
CREATE INDEX posts_replies ON posts (replied_post_id, id) WHERE replied_post_id IS NOT NULL AND hidden_for IS NULL;
CREATE UNIQUE INDEX posts_received ON posts (recipient_id, received_no)
  WHERE received_no IS NOT NULL AND hidden_for IS NULL;
CREATE INDEX posts_muted ON posts (owner_id, id) WHERE is_muted;
CREATE INDEX posts_hidden ON posts (owner_id, id) WHERE hidden_for IS NOT NULL;
CREATE INDEX posts_expiry ON posts (hidden_until) WHERE hidden_for IS NOT NULL;
CREATE INDEX posts_moving ON posts (id) WHERE likes_moving_since IS NOT NULL;
-- A publication that flushes the usual 4 MB of pending entries would take 0.3 s.
CREATE INDEX posts_search ON posts USING gin (search_words(id, text)) WITH (gin_pending_list_limit = 256)
  WHERE hidden_for IS NULL;
CREATE UNIQUE INDEX likes_liked ON likes (user_id, id) INCLUDE (post_id, post_hidden, user_left);
CREATE INDEX mutes_of ON mutes (muted_id);

CREATE UNIQUE INDEX reports_once ON reports (post_id, reporter_id, reason_id) WHERE state = 'open';
CREATE INDEX reports_post ON reports (post_id);
CREATE INDEX reports_reporter ON reports (reporter_id, id);
CREATE INDEX reports_unseen ON reports (reporter_id) WHERE state <> 'open' AND NOT is_seen;
CREATE INDEX reports_author ON reports (author_id);
CREATE INDEX reports_time ON reports (created_at);
CREATE INDEX appeals_open ON appeals (post_id) WHERE state = 'open';
CREATE INDEX appeals_user ON appeals (user_id);
CREATE INDEX journal_time ON journal (at);
CREATE INDEX journal_user ON journal (user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX journal_post ON journal (post_id, id) WHERE post_id IS NOT NULL;
CREATE INDEX access_journal_time ON access_journal (at);
CREATE INDEX access_journal_user ON access_journal (user_id, at);

CREATE INDEX invitations_expiry ON invitations (expires_at);
CREATE INDEX rate_limits_arrival ON rate_limits (arrival);
CREATE INDEX mail_refusals_network ON mail_refusals (network_hash, at);
CREATE INDEX outbox_due ON outbox (due_at) WHERE payload IS NOT NULL;
CREATE INDEX outbox_domain ON outbox (domain) WHERE payload IS NOT NULL;
CREATE INDEX outbox_time ON outbox (at);
CREATE INDEX outbox_address ON outbox (address_hash, at);
