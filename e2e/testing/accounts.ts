import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { lockUserByEmail } from '../../server/features/account/account.repository.ts'
import { findOrCreateUser } from '../../server/features/account/account.service.ts'
import {
  cookieOf,
  formatSessionCookie,
  randomSecret,
  type SiteAddress,
} from '../../server/features/sessions/cookie.ts'
import { selectTokenKey } from '../../server/features/sessions/sessions.repository.ts'
import { Sessions } from '../../server/features/sessions/sessions.service.ts'
import { openDatabase } from '../../server/kernel/db/database.ts'
import { DEVICE, type TestUser } from '../../server/testing/http/client.ts'

/**
 * Signs people in without mailed codes, which limits count: writes to the database what a sign-in
 * writes. An unknown address gets an account that is three weeks old. The caller closes it.
 */
export function openAccounts(
  databaseUrl: string,
  { secret, site: { publicUrl, port } }: { secret: string; site: SiteAddress },
) {
  const site = { publicUrl, port }
  const { db, close } = openDatabase(databaseUrl, () => {})

  async function signIn(email: string, clientToken: string = randomUUID()): Promise<TestUser> {
    const storedKey = await selectTokenKey(db)
    const sessions = new Sessions({ secret, storedKey, accessTokenSeconds: 3600, ...site })
    return db.transaction().execute(async (tx) => {
      const locked = await lockUserByEmail(tx, email)
      const proven = { email, networkHash: null, consentText: '', locked }
      const { user, isNew } = await findOrCreateUser(tx, proven, 'registration')
      if (isNew) {
        await sql`UPDATE users SET created_at = now() - interval '3 weeks'
          WHERE id = ${user.id}`.execute(tx)
      }
      const secretOfBrowser = randomSecret()
      const { secret, viewer } = await sessions.open(tx, {
        operationId: randomUUID(),
        userId: user.id,
        clientToken,
        browser: secretOfBrowser,
        networkHash: null,
        device: DEVICE,
      })
      const { accessToken } = sessions.issueToken(viewer)
      const cookie = `${sessions.cookieName}=${formatSessionCookie(secret)}`
      const browser = `${cookieOf('browser', site).name}=${secretOfBrowser}`
      return { ...user, token: accessToken.token, cookie, browser, clientToken }
    })
  }

  return { db, signIn, close }
}
