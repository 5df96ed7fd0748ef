import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { startChange, verifyChange } from '../../testing/calls/email-change-calls.ts'
import { startAt } from '../../testing/calls/sign-in-calls.ts'
import { freePort } from '../../testing/process/free-port.ts'
import { appForTest, type TestApp } from '../../testing/test-app.ts'

/**
 * Every row of every table as text, including the mail queue, without times, whose digits could
 * match by chance.
 */
async function copyOfDatabase(app: TestApp): Promise<string> {
  const tables = await app.sql<{ name: string }>`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`
  const parts: string[] = []
  for (const { name } of tables) {
    const rows = await app.sql<{ row: string }>`
      SELECT row_to_json(t)::text AS row FROM ${sql.raw(name)} t`
    parts.push(name, ...rows.map(({ row }) => row))
  }
  return parts.join('\n').replaceAll(/\d{4}-\d\d-\d\dT[\d:.+Z]+/g, 'time')
}

test('a copy of the database contains no code, session secret, clientToken or link that undoes an e-mail change, nor their hashes without a key, not even of mails in the queue', async () => {
  // Mails stay in the queue, because the SMTP server is down.
  const smtpUrl = `smtp://127.0.0.1:${await freePort()}`
  const app = await appForTest({ config: { smtpUrl } })
  const olga = await app.signIn('olga@one.example', 'fingerprint-of-olga')
  const email = 'olga@two.example'
  const change = (await startChange(app, olga, email)).body.id
  await verifyChange(app, olga, change)
  const { clientToken } = olga
  const login = (await startAt(app, '/logins', { email, clientToken })).body.id
  const { body } = await startAt(app, '/registrations', { email: 'petr@three.example' })
  await app.logLine('"task":"send-email-notice"')
  const undo = await app.db.selectFrom('email_changes').select('id').executeTakeFirstOrThrow()
  const copy = await copyOfDatabase(app)

  const hash = (text: string) => createHash('sha256').update(text).digest('hex')
  const [, cookieSecret = ''] = olga.cookie.split('.')
  expect(cookieSecret).toHaveLength(43)
  const kept = [hash(cookieSecret), undo.id, 'send-email-notice', `"operationId": "${login}"`]
  for (const text of kept) expect(copy).toContain(text)
  const undoSecret = app.undoSecretFor(undo.id)
  const secrets = {
    ...{ cookieSecret, undoSecret, clientToken, token: olga.token },
    cookieBytes: Buffer.from(cookieSecret, 'base64url').toString('hex'),
    hashes: [hash(undoSecret), hash(clientToken)],
    codes: [change, login, body.id].map(app.codeFor),
  }
  for (const [name, secret] of Object.entries(secrets)) {
    for (const text of [secret].flat()) expect(copy.includes(text), name).toBe(false)
  }
})
