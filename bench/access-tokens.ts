import { createSecretKey } from 'node:crypto'
import pg from 'pg'
import { signAccessToken } from '../server/features/sessions/access-token.ts'
import { deriveKey } from '../server/kernel/config/app-secret.ts'
import { SECRET } from './measured-product.ts'

const DAY_SECONDS = 86_400

/** Opens a session for each of `count` users; returns their access tokens. */
export async function signInUsers(databaseUrl: string, count: number): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ id: string; user_id: string }>(
    `INSERT INTO sessions (id, user_id, secret_hash, client_hash, user_agent, user_agent_version, os)
     SELECT gen_random_uuid(), id, '\\x00', '\\x00', 'bench', '', '' FROM users ORDER BY id LIMIT $1
     RETURNING id, user_id`,
    [count],
  )
  await client.end()
  const options = { key: createSecretKey(deriveKey(SECRET, 'access-token')), seconds: DAY_SECONDS }
  return rows.map(({ id, user_id }) => {
    const { accessToken } = signAccessToken({ userId: user_id, sessionId: id }, options)
    return accessToken.token
  })
}
