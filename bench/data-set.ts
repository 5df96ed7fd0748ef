import { APP_SECRET } from '../e2e/testing/product.ts'
import { deriveAccessTokenKey, signAccessToken } from '../server/features/sessions/authenticator.ts'
import { migrate } from '../server/kernel/db/migrate.ts'
import { fillDatabase } from '../server/testing/database/big-data.ts'
import { executeOn } from '../server/testing/database/databases.ts'

/** Derived from the number of its posts (replies included), whose ids begin at 1. */
export type DataSet = { posts: number; users: number; likes: number }

/** The lifetime of tokens on the measured server. */
export const TOKEN_SECONDS = 86_400

const WORDS =
  'стена слышит всё что говорят вслух а потом отвечает тихо и долго как старый друг у окна где идёт снег '

export function dataSetOf(posts: number): DataSet {
  return { posts, users: Math.max(10, Math.ceil(posts / 20)), likes: posts * 2 }
}

/**
 * Fills a new database. No account is a newcomer's. Half the posts are under 120 characters, some
 * fill all 500.
 */
export async function seed(databaseUrl: string, dataSet: DataSet): Promise<void> {
  await migrate(databaseUrl)
  await fillDatabase(databaseUrl, dataSet)
  for (const statement of [
    `UPDATE users SET created_at = now() - interval '30 days'`,
    `UPDATE posts SET text =
       trim(substr(repeat('${WORDS}', 6), 1 + (id * 7 % 90)::int, 20 + (power(random(), 3) * 480)::int))`,
    'VACUUM (ANALYZE)',
  ]) {
    await executeOn(databaseUrl, statement)
  }
}

/** Opens a session for each of the first 400 users. Returns their access tokens. */
export async function signInUsers(databaseUrl: string): Promise<string[]> {
  const rows = await executeOn<{ id: string; user_id: string; key: Buffer }>(
    databaseUrl,
    `INSERT INTO sessions (id, user_id, secret_hash, client_hash, browser_hash, user_agent, user_agent_version, os)
     SELECT gen_random_uuid(), id, '\\x00', '\\x00', '\\x00', 'bench', '', '' FROM users ORDER BY id LIMIT 400
     RETURNING id, user_id, (SELECT key FROM access_token_key) AS key`,
  )
  return rows.map(({ id, user_id, key }) => {
    const options = { key: deriveAccessTokenKey(APP_SECRET, key), seconds: TOKEN_SECONDS }
    return signAccessToken({ userId: user_id, sessionId: id }, options).accessToken.token
  })
}
