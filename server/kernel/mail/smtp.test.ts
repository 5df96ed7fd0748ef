import { expect, test } from 'vitest'
import { closeAfterTest } from '../../testing/close-after-test.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { mailboxForTest } from '../../testing/mailbox.ts'
import { retryMails } from '../../testing/passing-time.ts'
import { startAt } from '../../testing/sign-in-calls.ts'
import { openHangingSmtp } from '../../testing/smtp-faults.ts'
import { appForTest, mailAppForTest } from '../../testing/test-app.ts'
import { mailHealth } from './mail-log.repository.ts'
import { smtpOptions } from './relay.ts'
import { smtpSender, toMessage } from './smtp.ts'

const MESSAGE = toMessage(
  { to: 'olga@example.org', subject: '012345 — код', text: 'Код' },
  { name: 'Вслух', address: 'no-reply@vsluh.example' },
)
const STEPS = ['greeting', 'hello', 'login', 'sender', 'address', 'data', 'message'] as const

// Three seconds are long enough for seven conversations on a busy machine.
test('a server that hangs at any step is given up at the deadline, and its connection is closed', async () => {
  const failures = await Promise.all(
    STEPS.map(async (step) => {
      const hanging = closeAfterTest(await openHangingSmtp(step))
      const send = smtpSender({ url: hanging.url }, { conversationMs: 3000 })
      const { kind, code, login } = await send(MESSAGE).catch((error) => error)
      await expect.poll(() => hanging.counts.open).toBe(0)
      return { step, kind, code, login, mails: hanging.mails.length }
    }),
  )
  // Only a mail that was sent whole may have arrived.
  const failed = { kind: 'failed', code: 'EABORT', login: undefined, mails: 0 }
  const unanswered = { step: 'message', ...failed, kind: 'unanswered', mails: 1 }
  expect(failures).toEqual([...STEPS.slice(0, -1).map((step) => ({ step, ...failed })), unanswered])
})

test('a conversation ends when the process does', async () => {
  const hanging = closeAfterTest(await openHangingSmtp('hello', { drips: true }))
  const stop = new AbortController()
  const sending = smtpSender({ url: hanging.url })(MESSAGE, stop.signal).catch((error) => error)
  await expect.poll(() => hanging.counts.connections).toBe(1)
  stop.abort()
  expect(await sending).toMatchObject({ kind: 'failed', code: 'EABORT' })
  await expect.poll(() => hanging.counts.open).toBe(0)
})

test('a mail that was sent whole without a reply is sent once more with the same id, and not a third time', async () => {
  const breaking = closeAfterTest(await openHangingSmtp('message', { breaks: true }))
  const app = await appForTest({ config: { smtpUrl: breaking.url } })
  await startAt(app, '/registrations', { email: 'olga@example.org' })
  await app.logLine('mail not sent, will retry')
  await retryMails(app)
  await app.logLine('mail sent twice without an answer')
  await expect.poll(async () => (await mailHealth(app.db)).waiting).toBe(0)
  const ids = breaking.mails.map((source) => /^Message-ID:\s*(\S+)/im.exec(source)?.[1])
  expect(ids).toEqual([expect.stringContaining('@'), ids[0]])
})

test.each([
  ['smtp://10.0.0.5', true],
  ['smtp://localhost.example.org', true],
  ['smtp://mail.example.org?requireTLS=false', false],
  ['smtp://127.0.0.1:1025', false],
  ['smtp://[::1]:1025', false],
  ['smtp://localhost?requireTLS=true', true],
])('%s: TLS is required: %s', (url, isRequired) => {
  expect(smtpOptions({ url }).requireTLS).toBe(isRequired)
})

test('a mail goes over TLS if that is required and offered; a self-signed certificate is accepted on this machine only', async () => {
  // The server uses the self-signed certificate of its package.
  const { url, mails } = await mailboxForTest(0, { disabledCommands: [] })
  await smtpSender({ url: `${url}?requireTLS=true&tls.rejectUnauthorized=false` })(MESSAGE)
  await smtpSender({ url })(MESSAGE)
  expect(mails).toMatchObject([{ isSecure: true }, { isSecure: true }])
  for (const option of ['requireTLS=true', 'tls.rejectUnauthorized=true']) {
    const strict = smtpSender({ url: `${url}?${option}` })(MESSAGE)
    const hint = expect.stringContaining('SMTP_URL')
    await expect(strict).rejects.toMatchObject({ kind: 'failed', hint })
  }
  expect(smtpOptions({ url: 'smtp://10.0.0.5?requireTLS=false' })).not.toHaveProperty('tls')
})

test.each([
  ['https://wall.example.org', '', /^wall\.example\.org$/, 'wall.example.org'],
  ['https://wall.example.org', '?name=mx.example.org', /^mx\.example\.org$/, 'wall.example.org'],
  ['https://стена.рф', '', /^xn--80ajyof\.xn--p1ai$/, 'xn--80ajyof.xn--p1ai'],
  ['http://192.0.2.1:3000', '', /^\[192\.0\.2\.1\]$/, 'vsluh.example'],
  ['http://[2001:db8::1]', '', /^\[IPv6:2001:db8::1\]$/i, 'vsluh.example'],
  // Without a name in the DNS the machine's own choice stays.
  [undefined, '', /^(?!localhost$)/, 'vsluh.example'],
  ['http://localhost:3000', '', /^(?!localhost$)/, 'vsluh.example'],
  ['http://wall:3000', '', /^(?!wall$)/, 'vsluh.example'],
])(
  'the wall at %s%s greets the mail server by its own name, and names its mails so',
  async (publicUrl, query, name, host) => {
    const { url, mails } = await mailboxForTest()
    await smtpSender({ url: url + query, publicUrl })(MESSAGE)
    expect(mails[0]?.greeting).toMatch(name)
    expect(mails[0]?.headerOf('message-id')).toBe(`<${MESSAGE.id}@${host}>`)
  },
)

test('To shows the domain of an address in its letters', () => {
  const from = { name: 'Вслух', address: 'no-reply@vsluh.example' }
  for (const address of ['anna@пример.рф', 'anna@xn--e1afmkfd.xn--p1ai']) {
    const { to } = toMessage({ to: address, subject: '', text: '' }, from)
    expect(to).toEqual({ name: 'anna@пример.рф', address })
  }
  expect(MESSAGE.to).toEqual({ name: '', address: 'olga@example.org' })
})

test('an address beyond ASCII is refused with an explanation if the server lacks SMTPUTF8', async () => {
  const { app, mailbox } = await mailAppForTest({}, { hideSMTPUTF8: true })
  const message = { ...MESSAGE, to: { name: '', address: 'анна@пример.рф' } }
  const sending = smtpSender({ url: mailbox.url })(message)
  await expect(sending).rejects.toMatchObject({ kind: 'failed', code: 'ESMTPUTF8' })
  const start = () => startAt(app, '/registrations', { email: 'анна@пример.рф' })
  // A start does not wait for a server that is slow to answer on a busy machine.
  await expect.poll(async () => (await start()).status).toBe(400)
  const refused = await start()
  expectRefusal(refused, 'INVALID_REQUEST')
  expect(refused.body.message).toContain('не только латинские буквы')
})

test('a server that offers TLS and has none gets the mail only if TLS is not required', async () => {
  const hello = '250-here\r\n250 STARTTLS'
  const { url } = closeAfterTest(await openHangingSmtp(undefined, { hello }))
  expect(await smtpSender({ url })(MESSAGE)).toBe('250 taken')
  const strict = smtpSender({ url: `${url}?requireTLS=true` })(MESSAGE)
  await expect(strict).rejects.toMatchObject({ code: 'ETLS' })
})

test('no connection stays open after its mail, also where SMTP_URL wants a pool', async () => {
  let closed = 0
  const { url } = await mailboxForTest(0, { onClose: () => void closed++ })
  await smtpSender({ url: `${url}?pool=true&name=mx.example.org` })(MESSAGE)
  // An idle connection of a pool would stay for ten seconds.
  await expect.poll(() => closed, { timeout: 6000 }).toBe(1)
})

test('a mail is not sent if TLS is required but not offered, and the log names the fix', async () => {
  const mailbox = await mailboxForTest()
  const app = await appForTest({ config: { smtpUrl: `${mailbox.url}?requireTLS=true` } })
  await startAt(app, '/registrations', { email: 'olga@example.org' })
  const line = JSON.parse(await app.logLine('mail not sent, will retry'))
  expect(line).toMatchObject({ code: 'ETLS', hint: expect.stringContaining('SMTP_URL') })
  expect(mailbox.mails).toEqual([])
})
