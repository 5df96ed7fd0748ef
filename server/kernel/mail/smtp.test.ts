import { createServer } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { closeAfterTest } from '../../testing/close-after-test.ts'
import { openDatabaseForTest } from '../../testing/database-for-test.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { listen } from '../../testing/free-port.ts'
import { onAsked, openHangingSmtp, SMTP_STEPS } from '../../testing/hanging-smtp.ts'
import { openMailbox } from '../../testing/mailbox.ts'
import { startAt } from '../../testing/sign-in-calls.ts'
import { openTarpitSmtp, smtpForTest } from '../../testing/smtp-faults.ts'
import { appForTest } from '../../testing/test-app.ts'
import { queueMail } from './queue-mail.ts'
import { smtpOptions } from './relay.ts'
import { MailSender } from './send-mails.ts'
import { smtpSender, toMessage } from './smtp.ts'

/** Long enough for a busy machine. */
const SLOW_MACHINE = { timeout: 15_000 }

const MESSAGE = toMessage(
  { to: 'olga@example.org', subject: '012345 — код', text: 'Код' },
  { name: 'Вслух', address: 'no-reply@vsluh.example' },
)

// Three seconds are long enough for seven conversations on a busy machine.
test('a server that hangs at any step is given up at the deadline, and its connection is closed', async () => {
  const failures = await Promise.all(
    SMTP_STEPS.map(async (step) => {
      const hanging = closeAfterTest(await openHangingSmtp(step))
      const send = smtpSender({ url: hanging.url }, { conversationMs: 3000 })
      const { kind, code, login } = await send(MESSAGE).catch((error) => error)
      await expect.poll(() => hanging.counts.open).toBe(0)
      return [step, { kind, code, login, mails: hanging.counts.mails }]
    }),
  )
  // Only a mail that was sent whole may have arrived.
  const failed = { kind: 'failed', code: 'EABORT', login: undefined, mails: 0 }
  expect(Object.fromEntries(failures)).toEqual({
    ...Object.fromEntries(SMTP_STEPS.map((step) => [step, failed])),
    message: { ...failed, kind: 'unanswered', mails: 1 },
  })
})

test('a conversation ends when the process does', async () => {
  const tarpit = closeAfterTest(await openTarpitSmtp('hello'))
  const stop = new AbortController()
  const sending = smtpSender({ url: tarpit.url })(MESSAGE, stop.signal).catch((error) => error)
  await expect.poll(() => tarpit.counts.connections, SLOW_MACHINE).toBe(1)
  stop.abort()
  expect(await sending).toMatchObject({ kind: 'failed', code: 'EABORT' })
  await expect.poll(tarpit.open, SLOW_MACHINE).toBe(0)
})

test('a mail that was sent whole without a reply is sent once more, and not a third time', async () => {
  const tarpit = closeAfterTest(await openTarpitSmtp('message'))
  const { db } = await openDatabaseForTest()
  const logged: string[] = []
  const log = (_details: object, message: string) => void logged.push(message)
  const states: string[] = []
  const ids = new Set<string | undefined>()
  const send = smtpSender({ url: tarpit.url })
  const sender = new MailSender({
    db,
    kinds: {
      tarpit: {
        write: ({ to }) => ({ to, subject: 'Код', text: 'Код' }),
        settled: async (_tx, _mail, state) => void states.push(state),
      },
    },
    transport: {
      send({ id }) {
        ids.add(id)
        const stop = new AbortController()
        const before = tarpit.counts.mails
        void expect
          .poll(() => tarpit.counts.mails, SLOW_MACHINE)
          .toBe(before + 1)
          .then(() => stop.abort())
        return send(MESSAGE, stop.signal)
      },
    },
    charge: async () => undefined,
    logKey: Buffer.from('key'),
    log: { warn: log, info: log },
    outage: { whenWritable: async () => {}, isClosed: () => true },
  })
  await queueMail(db, 'tarpit', { to: MESSAGE.to.address, expiresAt: Date.now() + 600_000 })
  for (let run = 0; run < 3; run++) {
    await sender.run({ signal: new AbortController().signal })
    await sql`UPDATE outbox SET due_at = now() WHERE payload IS NOT NULL`.execute(db)
  }
  expect(tarpit.counts.mails).toBe(2)
  expect(logged).toEqual(['mail not sent, will retry', 'mail sent twice without an answer'])
  expect(states).toEqual(['retrying', 'expired'])
  expect([...ids]).toEqual([expect.any(String)])
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
  let isSecure: boolean | undefined
  const port = await smtpForTest({
    onData(stream, session, done) {
      isSecure = session.secure
      stream.resume().on('end', () => done())
    },
  })
  // The server uses the self-signed certificate of its package.
  const url = `smtp://127.0.0.1:${port}?requireTLS=true&tls.rejectUnauthorized=false`
  await smtpSender({ url })(MESSAGE)
  expect(isSecure).toBe(true)

  isSecure = undefined
  await smtpSender({ url: `smtp://127.0.0.1:${port}` })(MESSAGE)
  expect(isSecure).toBe(true)

  for (const option of ['requireTLS=true', 'tls.rejectUnauthorized=true']) {
    const strict = smtpSender({ url: `smtp://127.0.0.1:${port}?${option}` })(MESSAGE)
    await expect(strict).rejects.toMatchObject({
      kind: 'failed',
      hint: expect.stringContaining('SMTP_URL'),
    })
  }
  expect(smtpOptions({ url: 'smtp://10.0.0.5?requireTLS=false' })).not.toHaveProperty('tls')
})

/** Sends a mail. Returns by which name the wall greets the server, and the mail's source. */
async function greetingOf(publicUrl: string | undefined, query = '') {
  let name: string | undefined
  let source = ''
  const port = await smtpForTest({
    disabledCommands: ['STARTTLS'],
    onData(stream, { hostNameAppearsAs }, done) {
      name = String(hostNameAppearsAs)
      buffer(stream).then((bytes) => {
        source = bytes.toString('latin1')
        done()
      })
    },
  })
  await smtpSender({ url: `smtp://127.0.0.1:${port}${query}`, publicUrl })(MESSAGE)
  return { name, source }
}

test('the wall greets the mail server by the host of its address, and names its mails so', async () => {
  const named = await greetingOf('https://wall.example.org')
  expect(named.name).toBe('wall.example.org')
  expect(named.source.replace(/\r\n /g, ' ')).toContain(
    `Message-ID: <${MESSAGE.id}@wall.example.org>`,
  )
  expect((await greetingOf('https://wall.example.org', '?name=mx.example.org')).name).toBe(
    'mx.example.org',
  )
  expect((await greetingOf('https://стена.рф')).name).toBe('xn--80ajyof.xn--p1ai')
  expect((await greetingOf('http://192.0.2.1:3000')).name).toBe('[192.0.2.1]')
  expect((await greetingOf('http://[2001:db8::1]')).name).toMatch(/^\[IPv6:2001:db8::1\]$/i)
})

test('without a name in the DNS the machine’s own choice stays, and mails are named after their sender', async () => {
  for (const origin of [undefined, 'http://localhost:3000', 'http://wall:3000']) {
    const { name, source } = await greetingOf(origin)
    expect(name).not.toMatch(/^(?:localhost|wall)$/)
    expect(source).toMatch(/^Message-ID:\s*<[^@>]+@vsluh\.example>/m)
  }
})

test('To shows the domain of an address in its letters', () => {
  const from = { name: 'Вслух', address: 'no-reply@vsluh.example' }
  for (const address of ['anna@пример.рф', 'anna@xn--e1afmkfd.xn--p1ai']) {
    const { to } = toMessage({ to: address, subject: '', text: '' }, from)
    expect(to).toEqual({ name: 'anna@пример.рф', address })
  }
  expect(MESSAGE.to).toEqual({ name: '', address: 'olga@example.org' })
})

test('an address beyond ASCII is refused with an explanation if the server lacks SMTPUTF8', async () => {
  const told: string[] = []
  const port = await smtpForTest({
    disabledCommands: ['STARTTLS'],
    hideSMTPUTF8: true,
    onMailFrom: ({ address }, _session, done) => {
      told.push(address)
      done()
    },
  })
  const smtpUrl = `smtp://127.0.0.1:${port}`
  const message = { ...MESSAGE, to: { name: '', address: 'анна@пример.рф' } }
  await expect(smtpSender({ url: smtpUrl })(message)).rejects.toMatchObject({ kind: 'failed' })
  const app = await appForTest({ config: { smtpUrl } })
  const start = () => startAt(app, '/registrations', { email: 'анна@пример.рф' })
  // A start does not wait for a server that is slow to answer on a busy machine.
  await expect.poll(async () => (await start()).status).toBe(400)
  const refused = await start()
  expectRefusal(refused, 'INVALID_REQUEST')
  expect(refused.body.message).toContain('не только латинские буквы')
  expect(told).toEqual([])
})

test('a server that offers TLS and has none gets the mail only if TLS is not required', async () => {
  const replies = [
    { asked: /^EHLO /, reply: '250-here\r\n250 STARTTLS' },
    { asked: /^STARTTLS/, reply: '454 4.7.0 TLS not available' },
    { asked: /^(?:MAIL|RCPT) /, reply: '250 go on' },
    { asked: /^DATA/, reply: '354 go on' },
    { asked: /\r\n\.\r\n$/, reply: '250 taken' },
  ]
  const server = createServer((socket) => {
    socket.write('220 here\r\n')
    onAsked(socket, replies, ({ reply }) => socket.write(`${reply}\r\n`))
  })
  const url = `smtp://127.0.0.1:${await listen(server)}`
  closeAfterTest({ close: () => new Promise<void>((done) => server.close(() => done())) })
  expect(await smtpSender({ url })(MESSAGE)).toBe('250 taken')
  const strict = smtpSender({ url: `${url}?requireTLS=true` })(MESSAGE)
  await expect(strict).rejects.toMatchObject({ code: 'ETLS' })
})

test('no connection stays open after its mail, also where SMTP_URL wants a pool', async () => {
  let closed = 0
  const onClose = () => void closed++
  const port = await smtpForTest({ disabledCommands: ['STARTTLS'], onClose })
  const query = '?pool=true&name=mx.example.org'
  await smtpSender({ url: `smtp://127.0.0.1:${port}${query}` })(MESSAGE)
  // An idle connection of a pool would stay for ten seconds.
  await expect.poll(() => closed, { timeout: 6000 }).toBe(1)
})

test('a mail is not sent if TLS is required but not offered, and the log names the fix', async () => {
  const mailbox = closeAfterTest(await openMailbox())
  const app = await appForTest({ config: { smtpUrl: `${mailbox.url}?requireTLS=true` } })
  await startAt(app, '/registrations', { email: 'olga@example.org' })
  const line = JSON.parse(await app.logLine('mail not sent, will retry'))
  expect(line).toMatchObject({ code: 'ETLS', hint: expect.stringContaining('SMTP_URL') })
  expect(mailbox.mails).toEqual([])
})
