import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { startChange, verifyChange } from '../../testing/calls/email-change-calls.ts'
import { startAt } from '../../testing/calls/sign-in-calls.ts'
import { searchColumns } from '../../testing/database/search-columns.ts'
import { freePort } from '../../testing/process/free-port.ts'
import { appForTest } from '../../testing/test-app.ts'

test('a copy of the database contains no code, session secret, clientToken or link that undoes an e-mail change, nor their hashes without a key, not even of mails in the queue', async () => {
  // Mails stay in the queue, because the SMTP server is down.
  const smtpUrl = `smtp://127.0.0.1:${await freePort()}`
  const app = await appForTest({ config: { smtpUrl, logLevel: 'debug' } })
  const olga = await app.signIn('olga@one.example', 'fingerprint-of-olga')
  const email = 'olga@two.example'
  const change = (await startChange(app, olga, email)).body.id
  await verifyChange(app, olga, change)
  const { clientToken } = olga
  const login = (await startAt(app, '/logins', { email, clientToken })).body.id
  const { body } = await startAt(app, '/registrations', { email: 'petr@three.example' })
  await app.logLine('"task":"send-email-notice"')
  const undo = await app.db.selectFrom('email_changes').select('id').executeTakeFirstOrThrow()
  const search = (...words: string[]) => searchColumns(app.db, { words })

  const hash = (text: string) => createHash('sha256').update(text).digest('hex')
  const [, cookieSecret = ''] = olga.cookie.split('.')
  expect(cookieSecret).toHaveLength(43)
  const kept = [hash(cookieSecret), undo.id, 'send-email-notice', `"operationId": "${login}"`]
  for (const text of kept) expect(await search(text), text).not.toEqual([])
  const undoSecret = app.undoSecretFor(undo.id)
  const secrets = [
    ...[cookieSecret, undoSecret, clientToken, olga.token],
    ...[
      Buffer.from(cookieSecret, 'base64url').toString('hex'),
      hash(undoSecret),
      hash(clientToken),
    ],
    ...[change, login, body.id].map(app.codeFor),
  ]
  expect(await search(...secrets)).toEqual([])
})
