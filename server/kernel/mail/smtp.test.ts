import { expect, test } from 'vitest'
import { readMailState, startAt } from '../../testing/calls/sign-in-calls.ts'
import { closeAfterTest } from '../../testing/close-after-test.ts'
import { retryMails } from '../../testing/database/passing-time.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { mailboxForTest } from '../../testing/mail/mailbox.ts'
import { openHangingSmtp } from '../../testing/mail/smtp-faults.ts'
import { appForTest, mailAppForTest } from '../../testing/test-app.ts'
import { readMailHealth } from './mail-log.repository.ts'
import { smtpOptions, verifySmtp } from './relay.ts'
import { createSmtpSender, toMessage } from './smtp.ts'
import { explainSmtp } from './smtp-advice.ts'
import { isMailboxRefusal } from './smtp-answer.ts'

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
      const send = createSmtpSender({ url: hanging.url }, { conversationMs: 3000 })
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

test('a mail that was sent whole without a reply is sent once more with the same id, and not a third time', async () => {
  const breaking = closeAfterTest(await openHangingSmtp('message', { breaks: true }))
  const app = await appForTest({ config: { smtpUrl: breaking.url } })
  const { body } = await startAt(app, '/registrations', { email: 'olga@example.org' })
  await app.logLine('mail not sent, will retry')
  await retryMails(app)
  await app.logLine('mail sent twice without an answer')
  await expect.poll(async () => (await readMailHealth(app.db)).waiting).toBe(0)
  const [id, ...rest] = breaking.mails.map((mail) => /^Message-ID:\s*(\S+@.+)/im.exec(mail)?.[1])
  expect((await readMailState(app, body.id)).body.state).toBe('sent')
  expect(rest).toEqual([id ?? 'an id'])
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

test('a mail goes over TLS if that is required and offered, and nowhere if it is not offered; a self-signed certificate is accepted on this machine only', async () => {
  // The server uses the self-signed certificate of its package.
  const { url, mails } = await mailboxForTest(0, { disabledCommands: [] })
  await createSmtpSender({ url: `${url}?requireTLS=true&tls.rejectUnauthorized=false` })(MESSAGE)
  await createSmtpSender({ url })(MESSAGE)
  expect(mails).toMatchObject([{ isSecure: true }, { isSecure: true }])
  const plain = await mailboxForTest()
  const hint = expect.stringContaining('SMTP_URL')
  for (const refused of [
    `${plain.url}?requireTLS=true`,
    ...['requireTLS=true', 'tls.rejectUnauthorized=true'].map((option) => `${url}?${option}`),
  ]) {
    const strict = createSmtpSender({ url: refused })(MESSAGE)
    await expect(strict).rejects.toMatchObject({ kind: 'failed', hint })
  }
  expect(plain.mails).toEqual([])
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
    await createSmtpSender({ url: url + query, publicUrl })(MESSAGE)
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
  const sending = createSmtpSender({ url: mailbox.url })(message)
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
  expect(await createSmtpSender({ url })(MESSAGE)).toBe('250 taken')
  const strict = createSmtpSender({ url: `${url}?requireTLS=true` })(MESSAGE)
  await expect(strict).rejects.toMatchObject({ code: 'ETLS' })
})

test('no connection stays open after its mail, also where SMTP_URL wants a pool', async () => {
  let closed = 0
  const { url } = await mailboxForTest(0, { onClose: () => void closed++ })
  await createSmtpSender({ url: `${url}?pool=true&name=mx.example.org` })(MESSAGE)
  // An idle connection of a pool would stay for ten seconds.
  await expect.poll(() => closed, { timeout: 6000 }).toBe(1)
})

test('a server that answers is well, and one that never ends its reply is not', async () => {
  await verifySmtp({ url: (await mailboxForTest()).url })
  const hanging = closeAfterTest(await openHangingSmtp('hello', { drips: true }))
  const late = verifySmtp({ url: hanging.url }, { conversationMs: 1000 })
  await expect(late).rejects.toMatchObject({ code: 'EABORT' })
  await expect.poll(() => hanging.counts.open).toBe(0)
})

test.each([
  ['ESOCKET', 'certificate has expired', /сертификат/],
  ['ESOCKET', 'self-signed certificate in certificate chain', /\?tls\.rejectUnauthorized=false/],
  ['ESOCKET', "Hostname/IP does not match certificate's altnames", /сертификат/],
  ['ESOCKET', 'unable to get local issuer certificate', /NODE_EXTRA_CA_CERTS/],
  ['ETLS', 'Error upgrading connection with STARTTLS', /TLS.*\?requireTLS=false/],
  ['ESOCKET', '0A00010B:SSL routines:ssl3_get_record:wrong version number', /smtps:\/\/ или порт/],
  ['ESOCKET', 'connect ECONNREFUSED 127.0.0.1:25', /имя и порт/],
  ['EDNS', 'getaddrinfo ENOTFOUND smtp.example.org', /имя сервера/],
  ['EDNS', 'getaddrinfo EAI_AGAIN smtp.example.org', /DNS этой машины/],
  ['ECONNECTION', 'Connection closed unexpectedly', /подождите/],
  ['ETIMEDOUT', 'Timeout', /слишком медленно/],
  ['ETIMEDOUT', 'Connection timeout', /порт/],
  ['EPROTOCOL', 'Invalid greeting. response=421 4.3.0 not now', /подождите/],
  ['EABORT', 'The conversation took longer than 45 s', /слишком медленно/],
  ['EENVELOPE', '451 4.7.1 Greylisting in action', /причина в его ответе: подождите/],
  ['EAUTH', 'Invalid login: 454 4.7.0 Temporary authentication failure', /впускает: подождите/],
  ['EAUTH', 'Invalid login: 535 5.7.8 Your password has expired', /имя и пароль/],
  ['EENVELOPE', '530 5.7.0 Authentication required', /имени и паролю/],
  ['EENVELOPE', '530 5.7.0 Must issue a STARTTLS command first', /причина в его ответе/],
  ['ETLS', 'Error upgrading connection with STARTTLS: 454 4.7.0 not now', /подождите/],
  ['ESMTPUTF8', 'The server does not offer SMTPUTF8', /латинские буквы/],
])('the advice for %s, %s', (code, message, advice) => {
  const { message: reason, fix } = explainSmtp({ code, message })
  expect(fix).toMatch(advice)
  // The words of a mail server stay as they are.
  if (code === 'ESOCKET' || code === 'EABORT') expect(reason).toMatch(/^[а-яё].* \(.*\)$/)
})

test.each([
  '550 5.1.1 <limit@spam.example>: Recipient address rejected: User unknown in local recipient table',
  '550-5.2.1 The email account that you tried to reach is inactive. For more\n550-5.2.1 information, go to\n550 5.2.1  https://support.google.com/mail/?p=DisabledUser - gsmtp',
  '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup',
  '550 5.1.2 Bad destination system: no such domain',
  '550 5.1.6 Recipient no longer on server',
  '550 5.1.1 <olga@x.example>: Recipient address rejected: User unknown in relay recipient table',
  '550 Message was not accepted -- invalid mailbox.  Local mailbox olga@mail.ru is unavailable: user not found',
  '550 5.7.1 No such user!',
  '550 Unrouteable address',
  '550 olga@example.org: user unknown',
  "554 delivery error: dd This user doesn't have a yahoo.com account (olga@yahoo.com) [0] - mta1",
  '554 delivery error: dd Sorry, your message to olga@yahoo.com cannot be delivered. This mailbox is disabled (554.30). [-5] - mta1',
  '550 #5.1.0 Address rejected. No such recipient',
  '501 olga.@mail.example: malformed address: .@mail.example> may not follow <olga',
  '551 User not local; please try <olga@other.example>',
  '511 sorry, no mailbox here by that name (#5.1.1 - chkuser)',
])('a mailbox is refused: %s', (reply) => {
  expect(isMailboxRefusal(reply)).toBe(true)
})

test.each([
  '550 5.4.5 Daily user sending quota exceeded. x65sm25351206pga.71 - gsmtp',
  '554 5.2.0 STOREDRV.Submission.Exception:SendAsDeniedException.MapiExceptionSendAsDenied',
  '550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered',
  '550 5.1.3 Outgoing mails per hour reached: 300',
  '550 5.1.1 Maximum number of recipients per day reached',
  '550 5.2.0 Daily allowance used up',
  '550 5.2.1 Your account has been suspended from sending',
  '550 5.1.1 Превышена квота отправителя',
  '550 5.7.1 Client host rejected: cannot find your hostname, [203.0.113.5]',
  '550 5.7.1 Could not find a valid SPF record for wall.example',
  '550 5.7.0 DKIM: cannot find public key',
  '550 5.2.1 Outbound mail is disabled for this account',
  '550 5.1.3 Invalid From address',
  '550 5.1.1 Отправка писем с этого ящика запрещена',
  '550 Client IP address unknown',
  '550 5.7.1 Helo command rejected: invalid address',
  '550 5.7.1 Authentication failed: unknown user or wrong password',
  '550 5.2.1 Mailbox temporarily disabled, try again later',
  '550 5.1.1 Service unavailable, greylisted',
  '552 5.2.1 Insufficient disk space',
  '552 5.2.2 Mailbox full',
  '550 5.1.1 <wall@example.org>: Sender address rejected: User unknown in virtual mailbox table',
  '550-Verification failed for <wall@example.org>\n550-No Such User Here\n550 Sender verify failed',
  '550 spam message rejected. Please visit http://help.mail.ru/notspam-support/id?c=0123456789ABCDEF or  report details',
  '550-JunkMail rejected - wall.example (wall) [203.0.113.5]:34032 is in an RBL, see\n550 https://rbl.example/query/ip/203.0.113.5',
  '554 5.7.1 Service unavailable; Client host [203.0.113.5] blocked using zen.spamhaus.org',
  '550 5.7.1 Relaying denied',
  '550 5.4.1 Recipient address rejected: Access denied. [DB5EUR01FT001.eop-EUR01.prod.protection.outlook.com]',
  '550 5.7.1 Policy rejection on the target address',
  '550 Requested action not taken: mailbox unavailable',
  '550 5.1.1.9 is no status',
  '450 4.1.1 User unknown',
  '',
])('the mail or its sender is refused, or nothing is stated: %s', (reply) => {
  expect(isMailboxRefusal(reply)).toBe(false)
})

test('of a long reply, which would take long to judge, only the beginning counts', () => {
  const padding = 'a'.repeat(200_000)
  const began = performance.now()
  expect(isMailboxRefusal(`550 No such user ${padding}`)).toBe(true)
  expect(isMailboxRefusal(`550 ${padding} No such user`)).toBe(false)
  expect(performance.now() - began).toBeLessThan(1000)
})
