import { randomUUID } from 'node:crypto'
import pg from 'pg'

/**
 * The physical limit of a write: its durable statement in a loop, each by another user, on as many
 * connections as the product has. Prints the statements per second.
 */
const [url = '', kind = '', seconds = '1', users = '1', posts = '2', connections = '20'] =
  process.argv.slice(2)

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
    VALUES (2 + floor($2::float8 * ${Number(posts) - 1})::bigint, $1) ON CONFLICT DO NOTHING`,
}

const loops = Array.from({ length: Number(connections) })
const pool = new pg.Pool({ connectionString: url, max: loops.length })
const text = STATEMENTS[kind] ?? ''
let done = 0
let user = 0
await Promise.all(loops.map(() => pool.query('SELECT 1')))
const end = performance.now() + Number(seconds) * 1000
await Promise.all(
  loops.map(async () => {
    while (performance.now() < end) {
      user = (user % Number(users)) + 1
      const key = kind === 'post' ? [randomUUID()] : []
      await pool.query({ name: kind, text, values: [user, Math.random(), ...key] })
      done++
    }
  }),
)
console.log(Math.round(done / Number(seconds)))
await pool.end()
