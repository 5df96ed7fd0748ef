import { sql } from 'kysely'
import { openDatabase } from '../server/kernel/db/database.ts'
import { withoutIndexes } from './bulk-load.ts'

/** Derived from the number of its posts (replies included). */
export type DataSet = { posts: number; users: number; likes: number }

export function dataSetOf(posts: number): DataSet {
  return { posts, users: Math.max(10, Math.ceil(posts / 20)), likes: posts * 2 }
}

/** Every fourth row is a reply, to one of the posts before it. */
const REPLY_EVERY = 4
/** Millions of rows take minutes. */
const FOR_LONG_STATEMENTS = { connections: 1, statementTimeoutMs: 3_600_000 }
/** How many seconds lie between two posts. */
const SECONDS_APART = 20

/** Shares no factor with REPLY_EVERY, so that replies have all texts too. */
const TEXTS = 1999
const WORDS =
  'стена слышит всё что говорят вслух а потом отвечает тихо и долго как старый друг у окна где идёт снег'

/** Each post ends with a word that is the rarer the greater its number, from 0 on. */
const RARE_WORDS = 50_000
const SYLLABLES = 'ба ко ле ми ну по ра са ти ву га до же зи чу ка ло ме ни ры'.split(' ')

const RARE_WORD = `(SELECT string_agg(list[1 + rare / (20 ^ place)::int % 20], '' ORDER BY place)
  FROM string_to_array('${SYLLABLES.join(' ')}', ' ') list, generate_series(0, 3) place)`

export function rareWord(number: number): string {
  const digits = [0, 1, 2, 3].map((place) => Math.floor(number / 20 ** place) % 20)
  return digits.map((digit) => SYLLABLES[digit]).join('')
}

/**
 * Fills an empty migrated database. No account is a newcomer's. Half the posts are under 120
 * characters, some fill all 500. A tenth of the users write most posts, and new posts get most
 * likes.
 */
export async function seed(databaseUrl: string, dataSet: DataSet): Promise<void> {
  const { db, close } = openDatabase(databaseUrl, () => {}, FOR_LONG_STATEMENTS)
  const run = (statement: string) => sql.raw(statement).execute(db)
  try {
    await run(`SET work_mem = '256MB'`)
    await run(`SET maintenance_work_mem = '512MB'`)
    await withoutIndexes(db, ['posts', 'likes'], async () => {
      for (const statement of fillingStatements(dataSet)) await run(statement)
    })
    await run('VACUUM (ANALYZE)')
    await run('CHECKPOINT').catch(() => {})
  } finally {
    await close()
  }
}

/** Users, then likes, then posts with their counts, then totals. */
function fillingStatements({ posts, users, likes }: DataSet): string[] {
  return [
    `INSERT INTO users (username, email, email_key, created_at)
     SELECT 'user_' || lpad(n::text, 7, '0'), 'u' || n || '@example.org', 'u' || n || '@example.org',
       now() - interval '30 days'
     FROM generate_series(1, ${users}) n`,
    `INSERT INTO likes (post_id, user_id) SELECT DISTINCT
       ${posts} - floor(power(random(), 3) * ${posts})::bigint, 1 + floor(random() * ${users})::bigint
     FROM generate_series(1, ${likes})`,
    `CREATE TEMP TABLE texts AS
     WITH sized AS MATERIALIZED (
       SELECT n, 6 + (power(random(), 3) * 84)::int AS words FROM generate_series(0, ${TEXTS - 1}) n
     )
     SELECT n, (SELECT left(string_agg(list[1 + (n * 7 + i * 13) % array_length(list, 1)], ' '), 500)
       FROM string_to_array('${WORDS}', ' ') list, generate_series(1, words) i) AS text
     FROM sized`,
    `CREATE TEMP TABLE planned AS
     SELECT n, 1 + floor(power(skew, 3) * ${users})::bigint AS owner_id,
       CASE WHEN n % ${REPLY_EVERY} = 0 THEN n - 1 - floor(power(skew, 4) * (n - 1))::bigint END AS replied,
       floor(power(random(), 6) * ${RARE_WORDS})::int AS rare
     FROM (SELECT n, random() AS skew FROM generate_series(1, ${posts}) n) numbers`,
    'ANALYZE texts, planned, likes',
    `INSERT INTO posts (owner_id, text, created_at, replied_post_id, parent_post_id, likes_count, replies_count)
     SELECT owner_id, left(texts.text, 490) || ' ' || ${RARE_WORD}, now() - (${posts} - p.n) * interval '${SECONDS_APART} seconds', replied, replied,
       coalesce(l.number, 0), coalesce(r.number, 0)
     FROM planned p JOIN texts ON texts.n = p.n % ${TEXTS}
     LEFT JOIN (SELECT post_id, count(*) AS number FROM likes GROUP BY post_id) l ON l.post_id = p.n
     LEFT JOIN (SELECT replied AS id, count(*) AS number FROM planned GROUP BY replied) r ON r.id = p.n
     ORDER BY p.n`,
    'DROP TABLE texts, planned',
    'UPDATE wall_totals SET posts = (SELECT count(*) FROM posts WHERE replied_post_id IS NULL) WHERE slot = 0',
    `INSERT INTO owner_totals (user_id, posts, replies)
     SELECT owner_id, count(*) FILTER (WHERE replied_post_id IS NULL), count(replied_post_id) FROM posts GROUP BY owner_id`,
    'INSERT INTO like_totals (user_id, likes) SELECT user_id, count(*) FROM likes GROUP BY user_id',
  ]
}
