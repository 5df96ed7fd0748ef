import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { deriveKey } from '../../kernel/config/app-secret.ts'
import { newEmail } from '../../testing/account-fixture.ts'
import { startChange, verifyChange } from '../../testing/email-change-calls.ts'
import { openMailbox } from '../../testing/mailbox.ts'
import { startAt, verifyAt } from '../../testing/sign-in-calls.ts'
import { appForTest, type TestApp } from '../../testing/test-app.ts'
import { codeOf } from './codes.mail.ts'

/**
 * Every row of every table as text, including the mail queue, without times, whose digits could
 * match by chance.
 */
async function copyOfDatabase({ db }: TestApp): Promise<string> {
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

/** An app whose mails stay in the queue, because its SMTP server is down. */
async function appWithQueuedMails() {
  const gone = await openMailbox()
  await gone.close()
  const app = await appForTest({ config: { smtpUrl: gone.url } })
  return { app, smtpPort: Number(new URL(gone.url).port) }
}

test('a copy of the database contains no code, not even of a mail in the queue', async () => {
  const { app } = await appWithQueuedMails()
  const ids: string[] = []
  for (const name of ['olga', 'petr', 'vera']) {
    const { body } = await startAt(app, '/registrations', { email: `${name}@example.org` })
    ids.push(body.id)
  }
  await app.logLine('mail not sent, will retry', 3)
  const copy = await copyOfDatabase(app)
  expect(copy).toContain('public.outbox')
  expect(copy.split('"operationId"')).toHaveLength(1 + ids.length)
  const leaked = ids.filter((id) => copy.includes(app.codeFor(id)))
  expect(leaked).toEqual([])
})

test('a copy of the database contains no session secret and no clientToken, nor their hashes without a key', async () => {
  const { app } = await appWithQueuedMails()
  const user = await app.signIn('olga@example.org', 'fingerprint-of-olga')
  await startAt(app, '/logins', { email: user.email, clientToken: user.clientToken })
  const [, secret = ''] = user.cookie.split('.')
  const hash = (text: string) => createHash('sha256').update(text).digest('hex')
  const copy = await copyOfDatabase(app)

  expect(secret).toHaveLength(43)
  expect(copy).toContain(hash(secret))
  expect(copy).not.toContain(secret)
  expect(copy).not.toContain(Buffer.from(secret, 'base64url').toString('hex'))
  expect(copy).not.toContain(user.clientToken)
  expect(copy).not.toContain(hash(user.clientToken))
  expect(copy).not.toContain(user.token)
})

test('a copy of the database contains no link that undoes an e-mail change, not even of a notice in the queue', async () => {
  const { app, smtpPort } = await appWithQueuedMails()
  const olga = await app.signUp()
  const { id } = (await startChange(app, olga, newEmail())).body
  await verifyChange(app, olga, id)
  await app.logLine('"task":"send-email-notice"')
  const copy = await copyOfDatabase(app)

  const mailbox = await openMailbox(smtpPort)
  onTestFinished(() => mailbox.close())
  const { text } = await mailbox.mailAbout(olga.email, /Почта аккаунта изменена/)
  const [, changeId = '', secret = ''] = /#(\w+)\.(\w+)/.exec(text) ?? []
  expect(copy).toContain(changeId)
  expect(copy).toContain('send-email-notice')
  expect(secret).toHaveLength(64)
  expect(copy).not.toContain(secret)
  expect(copy).not.toContain(createHash('sha256').update(secret).digest('hex'))
})

test('codes under another APP_SECRET differ and are not accepted', async () => {
  const app = await appForTest()
  const otherKey = deriveKey('another-secret-of-somebody-with-a-copy', 'codes')
  const { body } = await startAt(app, '/registrations', { email: 'olga@example.org' })
  const code = codeOf(body.id, otherKey)
  expect(code).not.toBe(app.codeFor(body.id))
  const { body: refusal } = await verifyAt(app, '/registrations', { id: body.id, code })
  expect(refusal.code).toBe('INVALID_CONFIRM_CODE')
})
