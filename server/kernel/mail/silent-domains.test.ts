import { expect, onTestFinished, test } from 'vitest'
import type { EmailNotice } from '../../features/account/account.mail.ts'
import { startAt } from '../../testing/calls/sign-in-calls.ts'
import { mailAppForTest, testPerNode } from '../../testing/test-app.ts'
import { queueMail } from './queue-mail.ts'

/** After this time a server without a reply is given up. */
const SILENCE_MS = 30_000
const AT_ONCE = { timeout: 6000 }

/**
 * An app whose mail server never answers for recipients of a domain that begins with `silent`, and
 * takes all other mails.
 */
async function startApp() {
  const tried: string[] = []
  const open = new Map<string, string>()
  let most = 0
  const { app, mailbox } = await mailAppForTest(
    { trustProxy: ['127.0.0.1'] },
    {
      closeTimeout: 100,
      onRcptTo({ address }, { id }, done) {
        const domain = address.slice(address.indexOf('@') + 1)
        if (!domain.startsWith('silent')) return done()
        tried.push(address)
        open.set(id, domain)
        most = Math.max(most, [...open.values()].filter((other) => other === domain).length)
      },
      onClose: ({ id }) => void open.delete(id),
    },
  )
  // It closes before the app, which would wait for its conversations.
  onTestFinished(() => mailbox.close())
  const start = (email: string, ip: string) => startAt(app, '/registrations', { email, ip })
  const arrived = () => expect.poll(() => mailbox.mails.at(-1)?.to, AT_ONCE)
  return { app, mailbox, start, arrived, tried, most: () => most }
}

test('thirty recipients of a silent server delay no other code, and are tried two at a time', async () => {
  const { start, arrived, tried, most } = await startApp()
  for (let n = 0; n < 30; n++) await start(`somebody-${n}@silent.example`, `10.7.0.${n}`)
  await expect.poll(() => tried.length, AT_ONCE).toBeGreaterThanOrEqual(2)
  await start('olga@example.org', '10.8.0.1')
  await arrived().toBe('olga@example.org')
  expect(most()).toBe(2)
})

test('a mail that is queued while others are looked for is sent at once', async () => {
  const { start, arrived, tried } = await startApp()
  for (const n of [1, 2]) await start(`somebody-${n}@silent.example`, `10.7.0.${n}`)
  await expect.poll(() => tried.length, AT_ONCE).toBe(2)
  for (let n = 0; n < 8; n++) {
    const email = `olga-${n}@example.org`
    const others = Array.from({ length: 6 }, (_, m) =>
      start(`other-${n}-${m}@silent.example`, `10.9.${n}.${m}`),
    )
    await Promise.all([...others.slice(0, 3), start(email, `10.8.0.${n}`), ...others.slice(3)])
    await arrived().toBe(email)
  }
})

test('a newcomer waits for nobody of the same network whose domain is silent', async () => {
  const { start, arrived, tried, most } = await startApp()
  for (let n = 0; n < 5; n++) await start(`somebody-${n}@silent.example`, '10.7.0.1')
  await start('somebody@silent.example', '10.7.0.2')
  await expect.poll(() => tried.length, AT_ONCE).toBe(2)
  for (let n = 0; n < 3; n++) {
    await start(`olga-${n}@example.org`, '10.7.0.1')
    await arrived().toBe(`olga-${n}@example.org`)
  }
  expect(most()).toBe(2)
})

test('one network whose recipients’ servers do not answer, each of another domain, delays nobody of another network', async () => {
  const { start, arrived, tried } = await startApp()
  const since = performance.now()
  for (let n = 0; n < 10; n++) await start(`somebody@silent-${n}.example`, '10.7.0.1')
  await expect.poll(() => tried.length, AT_ONCE).toBeGreaterThan(0)
  await start('olga@example.org', '10.8.0.1')
  await arrived().toBe('olga@example.org')
  // Two at a time. On a slow machine the first are given up before the end.
  const atMost = 2 + 2 * Math.floor((performance.now() - since) / SILENCE_MS)
  expect(tried.length).toBeLessThanOrEqual(atMost)
})

testPerNode('how much one node does at once')(
  'recipients of many domains whose servers do not answer delay no code for somebody with an account, and no notice',
  async () => {
    const { app, mailbox, start, tried } = await startApp()
    await app.signIn('olga@example.org')
    for (let n = 0; n < 30; n++) await start(`somebody@silent-${n}.example`, `10.7.0.${n}`)
    await expect.poll(() => tried.length, AT_ONCE).toBeGreaterThanOrEqual(3)
    await startAt(app, '/logins', { email: 'olga@example.org', clientToken: 'phone' })
    await expect.poll(() => mailbox.mailsTo('olga@example.org').length, AT_ONCE).toBe(2)
    const notice: EmailNotice = {
      ...{ to: 'petr@example.org', username: 'petr_1', changeId: 'x' },
      expiresAt: Date.now() + 600_000,
    }
    await queueMail(app.db, 'send-email-notice', notice)
    await expect.poll(() => mailbox.mailsTo('petr@example.org').length, AT_ONCE).toBe(1)
  },
)
