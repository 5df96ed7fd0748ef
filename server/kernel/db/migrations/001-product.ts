import { type Kysely, sql } from 'kysely'

export const isAdditive = false

/** Creates the product's tables. Each index is named for the list that reads it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `CREATE TABLE users (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    username text NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
  )`,
  // Usernames are ASCII, so lower() means the same under every collation.
  `CREATE UNIQUE INDEX users_username ON users (lower(username))`,

  `CREATE TABLE sessions (
    id uuid PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    secret_hash bytea NOT NULL,
    previous_hash bytea,
    seen boolean NOT NULL DEFAULT true,
    rotated_at timestamptz NOT NULL DEFAULT now(),
    used_at timestamptz NOT NULL DEFAULT now(),
    created_at timestamptz NOT NULL DEFAULT now(),
    client_hash bytea NOT NULL,
    user_agent text NOT NULL,
    user_agent_version text NOT NULL,
    os text NOT NULL
  )`,
  `CREATE INDEX sessions_user ON sessions (user_id, created_at)`,

  `CREATE TABLE known_clients (
    user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    client_hash bytea NOT NULL,
    PRIMARY KEY (user_id, client_hash)
  )`,

  `CREATE TABLE codes (
    id text PRIMARY KEY,
    purpose text NOT NULL CHECK (purpose IN ('login', 'registration', 'email-change')),
    email text NOT NULL,
    email_key text NOT NULL,
    user_id bigint NOT NULL,
    client_hash bytea NOT NULL,
    device jsonb,
    attempts integer NOT NULL DEFAULT 0,
    mailed_at timestamptz,
    is_mailed boolean NOT NULL DEFAULT false,
    expires_at timestamptz NOT NULL,
    UNIQUE (purpose, email_key, user_id, client_hash)
  )`,
  `CREATE INDEX codes_expiry ON codes (expires_at)`,

  // replied_post_id and parent_post_id have no foreign key: a reply outlives the post it answers.
  `CREATE TABLE posts (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    owner_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    text text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    is_modified boolean NOT NULL DEFAULT false,
    parent_post_id bigint,
    replied_post_id bigint,
    likes_count integer NOT NULL DEFAULT 0 CHECK (likes_count >= 0),
    replies_count integer NOT NULL DEFAULT 0 CHECK (replies_count >= 0),
    idempotency_key text
  ) WITH (fillfactor = 85)`,
  `CREATE INDEX posts_wall ON posts (id) WHERE replied_post_id IS NULL`,
  `CREATE INDEX posts_own ON posts (owner_id, id) WHERE replied_post_id IS NULL`,
  `CREATE INDEX posts_own_replies ON posts (owner_id, id) WHERE replied_post_id IS NOT NULL`,
  `CREATE INDEX posts_replies ON posts (replied_post_id, id) WHERE replied_post_id IS NOT NULL`,
  `CREATE UNIQUE INDEX posts_idempotency ON posts (owner_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL`,

  // The wall's total is the sum of the slots: one row would make every publication queue for it.
  `CREATE TABLE wall_totals (
    slot smallint PRIMARY KEY,
    posts bigint NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50)`,
  `INSERT INTO wall_totals (slot) SELECT generate_series(0, 15)`,
  `CREATE TABLE owner_totals (
    user_id bigint PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    posts bigint NOT NULL DEFAULT 0 CHECK (posts >= 0),
    replies bigint NOT NULL DEFAULT 0 CHECK (replies >= 0)
  ) WITH (fillfactor = 70)`,

  // id orders the viewer's liked list by the time of the like.
  `CREATE TABLE likes (
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    post_id bigint NOT NULL REFERENCES posts ON DELETE CASCADE,
    user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (post_id, user_id)
  )`,
  `CREATE UNIQUE INDEX likes_liked ON likes (user_id, id) INCLUDE (post_id)`,
  `CREATE TABLE like_totals (
    user_id bigint PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    likes bigint NOT NULL DEFAULT 0 CHECK (likes >= 0)
  ) WITH (fillfactor = 70)`,

  `CREATE TABLE report_reasons (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL UNIQUE,
    place integer NOT NULL
  )`,
  `INSERT INTO report_reasons (place, name) VALUES
    (1, 'Спам или реклама'),
    (2, 'Оскорбления или травля'),
    (3, 'Угрозы или призывы к насилию'),
    (4, 'Вражда к группе людей'),
    (5, 'Личные данные без согласия'),
    (6, 'Мошенничество или обман'),
    (7, 'Материалы сексуального характера'),
    (8, 'Другое нарушение')`,
  `CREATE TABLE reports (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    post_id bigint NOT NULL REFERENCES posts ON DELETE CASCADE,
    reporter_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    reason_id bigint NOT NULL REFERENCES report_reasons,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (post_id, reporter_id, reason_id)
  )`,

  // The columns that rate-limiter-flexible's PostgreSQL store reads and writes.
  `CREATE TABLE rate_limits (
    key varchar(255) PRIMARY KEY,
    points integer NOT NULL DEFAULT 0,
    expire bigint
  )`,
  `CREATE INDEX rate_limits_expiry ON rate_limits (expire)`,
]
