import { randomUUID } from 'node:crypto'
import pg from 'pg'

/** The physical limit of a write: its durable statement in a loop. Prints how many a second. */
const { url, kind, seconds, users, posts, connections } = JSON.parse(process.argv[2] ?? '')

const STATEMENTS: Record<string, string> = {
  post: `WITH claimed AS (
      INSERT INTO idempotency_keys (owner_id, key, post_id) VALUES ($1, $3, nextval('posts_id_seq'))
      ON CONFLICT DO NOTHING RETURNING *
    ), post AS (
      INSERT INTO posts (id, owner_id, text) OVERRIDING SYSTEM VALUE
      SELECT post_id, owner_id, 'Говорят, если долго смотреть на стену, она отвечает.' FROM claimed
      RETURNING id
    )
    SELECT id, $2::float8 FROM post`,
  like: `INSERT INTO likes (post_id, user_id)
    VALUES (2 + floor($2::float8 * ${posts - 1})::bigint, $1) ON CONFLICT DO NOTHING`,
}

const loops = Array.from({ length: connections })
const pool = new pg.Pool({ connectionString: url, max: connections })
let done = 0
await Promise.all(loops.map(() => pool.query('SELECT 1')))
const end = performance.now() + seconds * 1000
await Promise.all(
  loops.map(async () => {
    while (performance.now() < end) {
      const key = kind === 'post' ? [randomUUID()] : []
      const values = [1 + (done++ % users), Math.random(), ...key]
      await pool.query({ name: kind, text: STATEMENTS[kind] ?? '', values })
    }
  }),
)
console.log(Math.round(done / seconds))
await pool.end()
