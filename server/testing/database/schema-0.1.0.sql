-- The schema of 0.1.0, as pg_dump prints it.
CREATE FUNCTION change_like_counts(post_ids bigint[], of_posts integer[], user_ids bigint[], of_users integer[]) RETURNS void
    LANGUAGE plpgsql STRICT
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
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
CREATE FUNCTION change_post_counts(replied_ids bigint[], owner_ids bigint[], steps integer[]) RETURNS void
    LANGUAGE plpgsql STRICT
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
    DECLARE
      wall bigint := (SELECT sum(step) FROM unnest(replied_ids, steps) c (replied_id, step) WHERE replied_id IS NULL);
      wall_slot int := floor(random() * 16);
    BEGIN
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
CREATE FUNCTION count_likes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION count_posts() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION note_post_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
      INSERT INTO post_changes DEFAULT VALUES ON CONFLICT DO NOTHING;
      RETURN NULL;
    END $$;
CREATE FUNCTION refuse_journal_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'the journal is append-only'; END $$;
CREATE FUNCTION search_blocks(newest bigint, first integer, last integer) RETURNS tsquery
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (SELECT (string_agg(format('''#%s'''::text, ((search_blocks.newest >> 13) - n.n)), '|'::text))::tsquery AS string_agg FROM generate_series(search_blocks.first, search_blocks.last) n(n));
DO $do$
BEGIN
  EXECUTE format($sql$
    CREATE FUNCTION search_text(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN regexp_replace(lower(translate($1, U&'ёЁ\0301\0300\00AD', 'ее') %s), '[^[:alnum:]]+', ' ', 'g')
  $sql$, (SELECT 'COLLATE pg_c_utf8' FROM pg_collation WHERE collname = 'pg_c_utf8'));
END $do$;
CREATE FUNCTION search_words(id bigint, text text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (to_tsvector('russian'::regconfig, search_text(text)) || array_to_tsvector(ARRAY[('#'::text || (id >> 13))]));
CREATE TABLE access_journal (
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    action text NOT NULL,
    user_id bigint NOT NULL,
    post_id bigint,
    address text NOT NULL,
    port integer
);
ALTER TABLE access_journal ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY;
CREATE TABLE additive_migrations (
    name text NOT NULL
);
CREATE TABLE answer_states (
    user_id bigint NOT NULL,
    last_no bigint DEFAULT 0 NOT NULL,
    seen_no bigint DEFAULT 0 NOT NULL,
    wants_mail boolean DEFAULT true NOT NULL,
    mailed_no bigint DEFAULT 0 NOT NULL,
    mailed_at timestamp with time zone,
    mails_since_visit smallint DEFAULT 0 NOT NULL
);
CREATE TABLE appeals (
    post_id bigint NOT NULL,
    user_id bigint NOT NULL,
    text text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    decided_at timestamp with time zone,
    decision_id bigint,
    CONSTRAINT appeals_state_check CHECK ((state = ANY (ARRAY['open'::text, 'granted'::text, 'refused'::text])))
);
CREATE TABLE bans (
    id bigint NOT NULL,
    kind text NOT NULL,
    value text NOT NULL,
    until timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    reason text,
    actor text,
    network inet GENERATED ALWAYS AS (
CASE kind
    WHEN 'network'::text THEN (value)::inet
    ELSE NULL::inet
END) STORED,
    CONSTRAINT bans_kind_check CHECK ((kind = ANY (ARRAY['domain'::text, 'network'::text, 'email'::text])))
);
ALTER TABLE bans ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY;
CREATE TABLE blocked_mailboxes (
    mailbox_hash bytea NOT NULL,
    reason text NOT NULL,
    until timestamp with time zone
);
CREATE TABLE blocks (
    user_id bigint NOT NULL,
    reason text NOT NULL,
    until timestamp with time zone,
    blocked_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE VIEW blocks_in_force AS
 SELECT blocks.user_id,
    blocks.reason,
    blocks.until,
    blocks.blocked_by,
    blocks.created_at
   FROM blocks
  WHERE COALESCE((blocks.until > now()), true);
CREATE TABLE codes (
    id text NOT NULL,
    purpose text NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL,
    user_id bigint NOT NULL,
    client_hash bytea NOT NULL,
    device jsonb,
    attempts integer DEFAULT 0 NOT NULL,
    mailed_at timestamp with time zone,
    is_mailed boolean DEFAULT false NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    mail_state text DEFAULT 'queued'::text NOT NULL,
    CONSTRAINT codes_mail_state_check CHECK ((mail_state = ANY (ARRAY['queued'::text, 'sent'::text, 'retrying'::text, 'refused'::text]))),
    CONSTRAINT codes_purpose_check CHECK ((purpose = ANY (ARRAY['login'::text, 'registration'::text, 'email-change'::text, 'account-deletion'::text])))
);
CREATE TABLE email_changes (
    id text NOT NULL,
    number bigint NOT NULL,
    user_id bigint NOT NULL,
    old_email text NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
ALTER TABLE email_changes ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY;
CREATE TABLE idempotency_keys (
    owner_id bigint NOT NULL,
    key text NOT NULL,
    post_id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE installation (
    is_only boolean DEFAULT true NOT NULL,
    secret_fingerprint bytea,
    version text,
    counters_checked_at timestamp with time zone,
    counter_differences integer,
    backup_at timestamp with time zone,
    backup_bytes bigint,
    backup_failed text,
    backup_verified_at timestamp with time zone,
    backup_verified_copy timestamp with time zone,
    backup_verification_failed text,
    CONSTRAINT installation_is_only_check CHECK (is_only)
);
CREATE TABLE invitations (
    token_hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    id bigint NOT NULL,
    note text,
    uses integer DEFAULT 1 NOT NULL,
    uses_left integer DEFAULT 1 NOT NULL,
    CONSTRAINT invitations_check CHECK (((uses_left >= 0) AND (uses_left <= uses)))
);
ALTER TABLE invitations ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY;
CREATE TABLE journal (
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    user_id bigint,
    post_id bigint,
    reason text,
    details jsonb DEFAULT '{}'::jsonb NOT NULL
);
ALTER TABLE journal ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY;
CREATE TABLE known_clients (
    user_id bigint NOT NULL,
    client_hash bytea NOT NULL,
    used_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE kysely_migration (
    name character varying(255) NOT NULL,
    "timestamp" character varying(255) NOT NULL
);
CREATE TABLE kysely_migration_lock (
    id character varying(255) NOT NULL,
    is_locked integer DEFAULT 0 NOT NULL
);
CREATE TABLE like_totals (
    user_id bigint NOT NULL,
    likes bigint DEFAULT 0 NOT NULL,
    CONSTRAINT like_totals_likes_check CHECK ((likes >= 0))
)
WITH (fillfactor='70');
CREATE TABLE likes (
    id bigint NOT NULL,
    post_id bigint NOT NULL,
    user_id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    post_hidden boolean DEFAULT false NOT NULL,
    user_left boolean DEFAULT false NOT NULL
);
ALTER TABLE likes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY;
CREATE TABLE mail_pause (
    is_only boolean DEFAULT true NOT NULL,
    refused_since timestamp with time zone,
    next_try_at timestamp with time zone,
    CONSTRAINT mail_pause_is_only_check CHECK (is_only)
);
CREATE TABLE moderator_mails (
    is_only boolean DEFAULT true NOT NULL,
    mailed_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    CONSTRAINT moderator_mails_is_only_check CHECK (is_only)
);
CREATE TABLE moderators (
    email_key text NOT NULL,
    email text NOT NULL,
    added_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE users (
    id bigint NOT NULL,
    username text NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp with time zone,
    is_returning boolean DEFAULT false NOT NULL,
    network_hash bytea
);
CREATE VIEW moderator_users AS
 SELECT u.id AS user_id,
    u.username,
    m.email_key
   FROM (moderators m
     JOIN users u ON (((u.email_key = m.email_key) AND (lower((u.email COLLATE "C")) = lower((m.email COLLATE "C"))))));
CREATE TABLE mutes (
    user_id bigint NOT NULL,
    muted_id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT mutes_check CHECK ((user_id <> muted_id))
);
CREATE TABLE site_state (
    is_only boolean DEFAULT true NOT NULL,
    registrations_closed text,
    writing_closed text,
    notice text,
    notice_since timestamp with time zone,
    notice_until timestamp with time zone,
    mails_refused_at timestamp with time zone,
    registrations_paused_until timestamp with time zone,
    is_invite_only boolean DEFAULT false NOT NULL,
    CONSTRAINT site_state_check CHECK (((notice IS NULL) = (notice_since IS NULL))),
    CONSTRAINT site_state_is_only_check CHECK (is_only)
);
CREATE VIEW notice_in_force AS
 SELECT site_state.notice AS text,
    site_state.notice_since AS since,
    site_state.notice_until AS until
   FROM site_state
  WHERE ((site_state.notice IS NOT NULL) AND COALESCE((site_state.notice_until > now()), true));
CREATE TABLE outbox (
    id bigint NOT NULL,
    task text NOT NULL,
    key text,
    payload jsonb,
    is_urgent boolean DEFAULT false NOT NULL,
    queued_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone DEFAULT now() NOT NULL,
    claimed_until timestamp with time zone,
    state text DEFAULT 'queued'::text NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    is_unanswered boolean DEFAULT false NOT NULL,
    masked text NOT NULL,
    address_hash bytea,
    error text,
    reply integer,
    answer text,
    is_to_new_address boolean DEFAULT false NOT NULL,
    CONSTRAINT outbox_check CHECK (
CASE
    WHEN (state = ANY (ARRAY['queued'::text, 'retrying'::text, 'limited'::text, 'slowed'::text])) THEN (payload IS NOT NULL)
    ELSE ((state = ANY (ARRAY['sent'::text, 'refused'::text, 'expired'::text])) AND (payload IS NULL) AND (key IS NULL))
END)
);
ALTER TABLE outbox ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY;
CREATE TABLE owner_totals (
    user_id bigint NOT NULL,
    posts bigint DEFAULT 0 NOT NULL,
    replies bigint DEFAULT 0 NOT NULL,
    CONSTRAINT owner_totals_posts_check CHECK ((posts >= 0)),
    CONSTRAINT owner_totals_replies_check CHECK ((replies >= 0))
)
WITH (fillfactor='70');
CREATE TABLE post_changes (
    number bigint NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL
);
ALTER TABLE post_changes ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY;
CREATE TABLE posts (
    id bigint NOT NULL,
    owner_id bigint NOT NULL,
    text text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    is_modified boolean DEFAULT false NOT NULL,
    parent_post_id bigint,
    replied_post_id bigint,
    likes_count integer DEFAULT 0 NOT NULL,
    replies_count integer DEFAULT 0 NOT NULL,
    hidden_for text,
    hidden_reason text,
    hidden_by text,
    hidden_at timestamp with time zone,
    hidden_until timestamp with time zone,
    likes_moving_since timestamp with time zone,
    recipient_id bigint,
    received_no bigint,
    is_muted boolean DEFAULT false NOT NULL,
    CONSTRAINT posts_check CHECK (((hidden_for IS NULL) = (hidden_until IS NULL))),
    CONSTRAINT posts_check1 CHECK (((recipient_id IS NULL) = (received_no IS NULL))),
    CONSTRAINT posts_hidden_for_check CHECK ((hidden_for = ANY (ARRAY['removed'::text, 'reported'::text, 'deleted'::text, 'left'::text]))),
    CONSTRAINT posts_likes_count_check CHECK ((likes_count >= 0)),
    CONSTRAINT posts_replies_count_check CHECK ((replies_count >= 0))
)
WITH (fillfactor='85');
ALTER TABLE posts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY;
CREATE TABLE rate_limits (
    key text NOT NULL,
    arrival timestamp with time zone NOT NULL,
    charged_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE VIEW visible_posts AS
 SELECT posts.id,
    posts.owner_id,
    posts.text,
    posts.created_at,
    posts.is_modified,
    posts.parent_post_id,
    posts.replied_post_id,
    posts.likes_count,
    posts.replies_count,
    posts.hidden_for,
    posts.hidden_reason,
    posts.hidden_by,
    posts.hidden_at,
    posts.hidden_until,
    posts.likes_moving_since,
    posts.recipient_id,
    posts.received_no,
    posts.is_muted
   FROM posts
  WHERE (posts.hidden_for IS NULL);
CREATE VIEW received_replies AS
 SELECT p.recipient_id,
    p.received_no,
    p.id,
    p.text,
    p.created_at,
    author.username
   FROM (visible_posts p
     JOIN users author ON (((author.id = p.owner_id) AND (author.deleted_at IS NULL))))
  WHERE ((p.received_no IS NOT NULL) AND (NOT (EXISTS ( SELECT
           FROM mutes
          WHERE ((mutes.user_id = p.recipient_id) AND (mutes.muted_id = p.owner_id))))));
CREATE TABLE recurring_jobs (
    task text NOT NULL,
    period bigint NOT NULL
);
CREATE TABLE released_usernames (
    name text NOT NULL,
    user_id bigint NOT NULL,
    released_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE report_reasons (
    id bigint NOT NULL,
    name text NOT NULL,
    place integer NOT NULL
);
ALTER TABLE report_reasons ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY;
CREATE TABLE reports (
    id bigint NOT NULL,
    post_id bigint NOT NULL,
    reporter_id bigint NOT NULL,
    reason_id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    author_id bigint NOT NULL,
    post_text text NOT NULL,
    posted_at timestamp with time zone NOT NULL,
    comment text,
    state text DEFAULT 'open'::text NOT NULL,
    decided_at timestamp with time zone,
    decision_id bigint,
    is_seen boolean DEFAULT false NOT NULL,
    CONSTRAINT reports_state_check CHECK ((state = ANY (ARRAY['open'::text, 'removed'::text, 'kept'::text])))
);
ALTER TABLE reports ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY;
CREATE TABLE reserved_usernames (
    name_hash bytea NOT NULL
);
CREATE TABLE sessions (
    id uuid NOT NULL,
    user_id bigint NOT NULL,
    secret_hash bytea NOT NULL,
    previous_hash bytea,
    seen boolean DEFAULT true NOT NULL,
    rotated_at timestamp with time zone DEFAULT now() NOT NULL,
    used_at timestamp with time zone DEFAULT now() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    client_hash bytea NOT NULL,
    user_agent text NOT NULL,
    user_agent_version text NOT NULL,
    os text NOT NULL
);
ALTER TABLE users ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY;
CREATE TABLE wall_totals (
    slot smallint NOT NULL,
    posts bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');
CREATE VIEW write_states AS
 SELECT u.id AS user_id,
    (u.created_at > (now() - '1 day'::interval)) AS is_newcomer,
    b.reason AS block_reason,
    b.until AS block_until,
    s.writing_closed
   FROM ((users u
     LEFT JOIN blocks_in_force b ON ((b.user_id = u.id)))
     CROSS JOIN site_state s);
ALTER TABLE ONLY access_journal
    ADD CONSTRAINT access_journal_pkey PRIMARY KEY (id);
ALTER TABLE ONLY additive_migrations
    ADD CONSTRAINT additive_migrations_pkey PRIMARY KEY (name);
ALTER TABLE ONLY answer_states
    ADD CONSTRAINT answer_states_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY appeals
    ADD CONSTRAINT appeals_pkey PRIMARY KEY (post_id);
ALTER TABLE ONLY bans
    ADD CONSTRAINT bans_kind_value_key UNIQUE (kind, value);
ALTER TABLE ONLY bans
    ADD CONSTRAINT bans_pkey PRIMARY KEY (id);
ALTER TABLE ONLY blocked_mailboxes
    ADD CONSTRAINT blocked_mailboxes_pkey PRIMARY KEY (mailbox_hash);
ALTER TABLE ONLY blocks
    ADD CONSTRAINT blocks_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY codes
    ADD CONSTRAINT codes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY codes
    ADD CONSTRAINT codes_purpose_email_key_user_id_client_hash_key UNIQUE (purpose, email_key, user_id, client_hash);
ALTER TABLE ONLY email_changes
    ADD CONSTRAINT email_changes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (owner_id, key);
ALTER TABLE ONLY installation
    ADD CONSTRAINT installation_pkey PRIMARY KEY (is_only);
ALTER TABLE ONLY invitations
    ADD CONSTRAINT invitations_id_key UNIQUE (id);
ALTER TABLE ONLY invitations
    ADD CONSTRAINT invitations_pkey PRIMARY KEY (token_hash);
ALTER TABLE ONLY journal
    ADD CONSTRAINT journal_pkey PRIMARY KEY (id);
ALTER TABLE ONLY known_clients
    ADD CONSTRAINT known_clients_pkey PRIMARY KEY (user_id, client_hash);
ALTER TABLE ONLY kysely_migration_lock
    ADD CONSTRAINT kysely_migration_lock_pkey PRIMARY KEY (id);
ALTER TABLE ONLY kysely_migration
    ADD CONSTRAINT kysely_migration_pkey PRIMARY KEY (name);
ALTER TABLE ONLY like_totals
    ADD CONSTRAINT like_totals_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY likes
    ADD CONSTRAINT likes_pkey PRIMARY KEY (post_id, user_id);
ALTER TABLE ONLY mail_pause
    ADD CONSTRAINT mail_pause_pkey PRIMARY KEY (is_only);
ALTER TABLE ONLY moderator_mails
    ADD CONSTRAINT moderator_mails_pkey PRIMARY KEY (is_only);
ALTER TABLE ONLY moderators
    ADD CONSTRAINT moderators_pkey PRIMARY KEY (email_key);
ALTER TABLE ONLY mutes
    ADD CONSTRAINT mutes_pkey PRIMARY KEY (user_id, muted_id);
ALTER TABLE ONLY outbox
    ADD CONSTRAINT outbox_key_key UNIQUE (key);
ALTER TABLE ONLY outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (id);
ALTER TABLE ONLY owner_totals
    ADD CONSTRAINT owner_totals_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY post_changes
    ADD CONSTRAINT post_changes_pkey PRIMARY KEY (number);
ALTER TABLE ONLY post_changes
    ADD CONSTRAINT post_changes_xid_key UNIQUE (xid);
ALTER TABLE ONLY posts
    ADD CONSTRAINT posts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY rate_limits
    ADD CONSTRAINT rate_limits_pkey PRIMARY KEY (key);
ALTER TABLE ONLY recurring_jobs
    ADD CONSTRAINT recurring_jobs_pkey PRIMARY KEY (task);
ALTER TABLE ONLY released_usernames
    ADD CONSTRAINT released_usernames_pkey PRIMARY KEY (name);
ALTER TABLE ONLY report_reasons
    ADD CONSTRAINT report_reasons_name_key UNIQUE (name);
ALTER TABLE ONLY report_reasons
    ADD CONSTRAINT report_reasons_pkey PRIMARY KEY (id);
ALTER TABLE ONLY reports
    ADD CONSTRAINT reports_pkey PRIMARY KEY (id);
ALTER TABLE ONLY reserved_usernames
    ADD CONSTRAINT reserved_usernames_pkey PRIMARY KEY (name_hash);
ALTER TABLE ONLY sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY site_state
    ADD CONSTRAINT site_state_pkey PRIMARY KEY (is_only);
ALTER TABLE ONLY users
    ADD CONSTRAINT users_email_key_key UNIQUE (email_key);
ALTER TABLE ONLY users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);
ALTER TABLE ONLY wall_totals
    ADD CONSTRAINT wall_totals_pkey PRIMARY KEY (slot);
CREATE INDEX access_journal_time ON access_journal USING btree (at);
CREATE INDEX access_journal_user ON access_journal USING btree (user_id, at);
CREATE INDEX appeals_open ON appeals USING btree (post_id) WHERE (state = 'open'::text);
CREATE INDEX appeals_user ON appeals USING btree (user_id);
CREATE INDEX codes_expiry ON codes USING btree (expires_at);
CREATE INDEX email_changes_expiry ON email_changes USING btree (expires_at);
CREATE INDEX email_changes_user ON email_changes USING btree (user_id);
CREATE INDEX invitations_expiry ON invitations USING btree (expires_at);
CREATE INDEX journal_post ON journal USING btree (post_id, id) WHERE (post_id IS NOT NULL);
CREATE INDEX journal_time ON journal USING btree (at);
CREATE INDEX journal_user ON journal USING btree (user_id, id) WHERE (user_id IS NOT NULL);
CREATE INDEX known_clients_used ON known_clients USING btree (used_at);
CREATE UNIQUE INDEX likes_liked ON likes USING btree (user_id, id) INCLUDE (post_id, post_hidden, user_left);
CREATE INDEX mutes_of ON mutes USING btree (muted_id);
CREATE INDEX outbox_address ON outbox USING btree (address_hash, at);
CREATE INDEX outbox_due ON outbox USING btree (due_at) WHERE (payload IS NOT NULL);
CREATE INDEX outbox_new_addresses ON outbox USING btree (at) WHERE is_to_new_address;
CREATE INDEX outbox_time ON outbox USING btree (at);
CREATE INDEX posts_expiry ON posts USING btree (hidden_until) WHERE (hidden_for IS NOT NULL);
CREATE INDEX posts_hidden ON posts USING btree (owner_id, id) WHERE (hidden_for IS NOT NULL);
CREATE INDEX posts_moving ON posts USING btree (id) WHERE (likes_moving_since IS NOT NULL);
CREATE INDEX posts_muted ON posts USING btree (owner_id, id) WHERE is_muted;
CREATE INDEX posts_own ON posts USING btree (owner_id, id) WHERE ((replied_post_id IS NULL) AND (hidden_for IS NULL));
CREATE INDEX posts_own_replies ON posts USING btree (owner_id, id) WHERE ((replied_post_id IS NOT NULL) AND (hidden_for IS NULL));
CREATE UNIQUE INDEX posts_received ON posts USING btree (recipient_id, received_no) WHERE ((received_no IS NOT NULL) AND (hidden_for IS NULL));
CREATE INDEX posts_replies ON posts USING btree (replied_post_id, id) WHERE ((replied_post_id IS NOT NULL) AND (hidden_for IS NULL));
CREATE INDEX posts_search ON posts USING gin (search_words(id, text)) WITH (gin_pending_list_limit='256') WHERE (hidden_for IS NULL);
CREATE INDEX posts_wall ON posts USING btree (id) WHERE ((replied_post_id IS NULL) AND (hidden_for IS NULL));
CREATE INDEX rate_limits_arrival ON rate_limits USING btree (arrival);
CREATE INDEX released_usernames_time ON released_usernames USING btree (released_at);
CREATE INDEX released_usernames_user ON released_usernames USING btree (user_id);
CREATE INDEX reports_author ON reports USING btree (author_id);
CREATE INDEX reports_decision ON reports USING btree (decision_id) WHERE (decision_id IS NOT NULL);
CREATE UNIQUE INDEX reports_once ON reports USING btree (post_id, reporter_id, reason_id) WHERE (state = 'open'::text);
CREATE INDEX reports_post ON reports USING btree (post_id);
CREATE INDEX reports_reporter ON reports USING btree (reporter_id, id);
CREATE INDEX reports_time ON reports USING btree (created_at);
CREATE INDEX reports_unseen ON reports USING btree (reporter_id) WHERE ((state <> 'open'::text) AND (NOT is_seen));
CREATE INDEX sessions_user ON sessions USING btree (user_id, created_at);
CREATE INDEX users_moving ON users USING btree (id) WHERE ((deleted_at IS NOT NULL) OR is_returning);
CREATE UNIQUE INDEX users_username ON users USING btree (lower(username));
CREATE TRIGGER journal_append_only BEFORE DELETE OR UPDATE ON journal FOR EACH STATEMENT EXECUTE FUNCTION refuse_journal_change();
CREATE TRIGGER likes_deleted AFTER DELETE ON likes REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION count_likes();
CREATE TRIGGER likes_inserted AFTER INSERT ON likes REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_likes();
CREATE TRIGGER likes_updated AFTER UPDATE ON likes REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_likes();
CREATE TRIGGER owner_changed AFTER UPDATE OF username, deleted_at ON users FOR EACH ROW WHEN (((old.username IS DISTINCT FROM new.username) OR (old.deleted_at IS DISTINCT FROM new.deleted_at))) EXECUTE FUNCTION note_post_change();
CREATE TRIGGER post_changed AFTER UPDATE OF text, hidden_for ON posts FOR EACH ROW WHEN ((((old.hidden_for IS NULL) OR (new.hidden_for IS NULL)) AND ((old.text IS DISTINCT FROM new.text) OR (old.hidden_for IS DISTINCT FROM new.hidden_for)))) EXECUTE FUNCTION note_post_change();
CREATE TRIGGER post_gone AFTER DELETE ON posts FOR EACH ROW WHEN ((old.hidden_for IS NULL)) EXECUTE FUNCTION note_post_change();
CREATE TRIGGER posts_deleted AFTER DELETE ON posts REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION count_posts();
CREATE TRIGGER posts_inserted AFTER INSERT ON posts REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_posts();
CREATE TRIGGER posts_updated AFTER UPDATE ON posts REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_posts();
ALTER TABLE ONLY answer_states
    ADD CONSTRAINT answer_states_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE ONLY appeals
    ADD CONSTRAINT appeals_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE ONLY blocks
    ADD CONSTRAINT blocks_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE ONLY email_changes
    ADD CONSTRAINT email_changes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE ONLY idempotency_keys
    ADD CONSTRAINT idempotency_keys_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE ONLY known_clients
    ADD CONSTRAINT known_clients_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE ONLY like_totals
    ADD CONSTRAINT like_totals_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE ONLY likes
    ADD CONSTRAINT likes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE ONLY mutes
    ADD CONSTRAINT mutes_muted_id_fkey FOREIGN KEY (muted_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE ONLY mutes
    ADD CONSTRAINT mutes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE ONLY owner_totals
    ADD CONSTRAINT owner_totals_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE ONLY posts
    ADD CONSTRAINT posts_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE ONLY released_usernames
    ADD CONSTRAINT released_usernames_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE ONLY reports
    ADD CONSTRAINT reports_author_id_fkey FOREIGN KEY (author_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE ONLY reports
    ADD CONSTRAINT reports_reason_id_fkey FOREIGN KEY (reason_id) REFERENCES report_reasons(id);
ALTER TABLE ONLY reports
    ADD CONSTRAINT reports_reporter_id_fkey FOREIGN KEY (reporter_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE ONLY sessions
    ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
