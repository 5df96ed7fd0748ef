import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { newEmail } from '../../testing/account-fixture.ts'
import { closeAfterTest } from '../../testing/close-after-test.ts'
import { startChange, verifyChange } from '../../testing/email-change-calls.ts'
import { freePort } from '../../testing/free-port.ts'
import { openMailbox } from '../../testing/mailbox.ts'
import { retryMails } from '../../testing/passing-time.ts'
import { startAt } from '../../testing/sign-in-calls.ts'
import { appForFile } from '../../testing/test-app.ts'

/** Mails stay in the queue, because the SMTP server is down. */
const port = await freePort()
const app = await appForFile({ config: { smtpUrl: `smtp://127.0.0.1:${port}` } })

/**
 * Every row of every table as text, including the mail queue, without times, whose digits could
 * match by chance.
 */
async function copyOfDatabase(): Promise<string> {
  const { db } = app
  const { rows: tables } = await sql<{ name: string }>`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`.execute(db)
  const parts: string[] = []
  for (const { name } of tables) {
    const { rows } = await sql<{ row: string }>`
      SELECT row_to_json(t)::text AS row FROM ${sql.raw(name)} t`.execute(db)
    parts.push(name, ...rows.map(({ row }) => row))
  }
  return parts.join('\n').replaceAll(/\d{4}-\d\d-\d\dT[\d:.+Z]+/g, 'time')
}

test('a copy of the database contains no code, not even of a mail in the queue', async () => {
  const ids: string[] = []
  for (const name of ['olga', 'petr', 'vera']) {
    const { body } = await startAt(app, '/registrations', { email: `${name}@example.org` })
    ids.push(body.id)
  }
  await app.logLine('mail not sent, will retry', 3)
  const copy = await copyOfDatabase()
  expect(copy).toContain('public.outbox')
  expect(copy.split('"operationId"')).toHaveLength(1 + ids.length)
  const leaked = ids.filter((id) => copy.includes(app.codeFor(id)))
  expect(leaked).toEqual([])
})

test('a copy of the database contains no session secret and no clientToken, nor their hashes without a key', async () => {
  const user = await app.signIn('olga@example.org', 'fingerprint-of-olga')
  await startAt(app, '/logins', { email: user.email, clientToken: user.clientToken })
  const [, secret = ''] = user.cookie.split('.')
  const hash = (text: string) => createHash('sha256').update(text).digest('hex')
  const copy = await copyOfDatabase()

  expect(secret).toHaveLength(43)
  expect(copy).toContain(hash(secret))
  expect(copy).not.toContain(secret)
  expect(copy).not.toContain(Buffer.from(secret, 'base64url').toString('hex'))
  expect(copy).not.toContain(user.clientToken)
  expect(copy).not.toContain(hash(user.clientToken))
  expect(copy).not.toContain(user.token)
})

test('a copy of the database contains no link that undoes an e-mail change, not even of a notice in the queue', async () => {
  const olga = await app.signUp()
  const { id } = (await startChange(app, olga, newEmail())).body
  await verifyChange(app, olga, id)
  await app.logLine('"task":"send-email-notice"')
  const copy = await copyOfDatabase()

  const mailbox = closeAfterTest(await openMailbox(port))
  await retryMails(app)
  const { text } = await mailbox.mailAbout(olga.email, /Почта аккаунта изменена/)
  const [, changeId = '', secret = ''] = /#(\w+)\.(\w+)/.exec(text) ?? []
  expect(copy).toContain(changeId)
  expect(copy).toContain('send-email-notice')
  expect(secret).toHaveLength(64)
  expect(copy).not.toContain(secret)
  expect(copy).not.toContain(createHash('sha256').update(secret).digest('hex'))
})
