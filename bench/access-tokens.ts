import { accessTokenKey, signAccessToken } from '../server/features/sessions/authenticator.ts'
import { executeOn } from '../server/testing/databases.ts'
import { SECRET } from './measured-product.ts'

/** The lifetime of tokens on the measured server. */
const DAY_SECONDS = 86_400

/** Opens a session for each of `count` users; returns their access tokens. */
export async function signInUsers(databaseUrl: string, count: number): Promise<string[]> {
  const rows = await executeOn<{ id: string; user_id: string }>(
    databaseUrl,
    `INSERT INTO sessions (id, user_id, secret_hash, client_hash, browser_hash, user_agent, user_agent_version, os)
     SELECT gen_random_uuid(), id, '\\x00', '\\x00', '\\x00', 'bench', '', '' FROM users ORDER BY id LIMIT $1
     RETURNING id, user_id`,
    [count],
  )
  const [stored] = await executeOn<{ key: Buffer }>(databaseUrl, 'SELECT key FROM access_token_key')
  const storedKey = stored?.key ?? Buffer.alloc(0)
  const options = { key: accessTokenKey(SECRET, storedKey), seconds: DAY_SECONDS }
  return rows.map(({ id, user_id }) => {
    const { accessToken } = signAccessToken({ userId: user_id, sessionId: id }, options)
    return accessToken.token
  })
}
