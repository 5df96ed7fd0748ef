import pg from 'pg'

/**
 * The physical limit of a write: the same durable statement in a loop on as many connections as the product has, and
 * nothing else. Prints how many a second.
 */
const [url = '', kind = '', seconds = '1', users = '1', posts = '2'] = process.argv.slice(2)
const CONNECTIONS = 20

const STATEMENTS: Record<string, string> = {
  post: `WITH post AS (
      INSERT INTO posts (owner_id, text) VALUES ($1, 'Говорят, если долго смотреть на стену, она отвечает.')
      RETURNING id, owner_id
    ), owner AS (
      INSERT INTO owner_totals AS t (user_id, posts) SELECT owner_id, 1 FROM post
      ON CONFLICT (user_id) DO UPDATE SET posts = t.posts + 1
    ), wall AS (
      UPDATE wall_totals t SET posts = t.posts + 1 FROM post WHERE t.slot = floor($2::float8 * 16)::int
    )
    SELECT id FROM post`,
  like: `INSERT INTO likes (post_id, user_id)
    VALUES (2 + floor($2::float8 * ${Number(posts) - 1})::bigint, $1) ON CONFLICT DO NOTHING`,
}

const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS })
const text = STATEMENTS[kind] ?? ''
let done = 0
let user = 0
await Promise.all(Array.from({ length: CONNECTIONS }, () => pool.query('SELECT 1')))
const end = performance.now() + Number(seconds) * 1000
await Promise.all(
  Array.from({ length: CONNECTIONS }, async () => {
    while (performance.now() < end) {
      user = (user % Number(users)) + 1
      await pool.query({ name: kind, text, values: [user, Math.random()] })
      done++
    }
  }),
)
console.log(Math.round(done / Number(seconds)))
await pool.end()
