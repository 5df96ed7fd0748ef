-- The schema that 0.1.0 lacks. It runs before 001-schema.sql in a new database, otherwise before from-0.1.0.sql.

-- `version` is the beginning of the text's SHA-256.
CREATE TABLE consent_texts (
  version text PRIMARY KEY,
  text text NOT NULL,
  since timestamptz NOT NULL DEFAULT now()
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

-- Codes that the mail server refused because of the mailbox, by the network that asked for them.
CREATE TABLE mail_refusals (
  at timestamptz NOT NULL DEFAULT now(),
  network_hash bytea NOT NULL
);
CREATE INDEX mail_refusals_network ON mail_refusals (network_hash, at);

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
