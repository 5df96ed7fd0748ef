import { expect, test } from 'vitest'
import { startAt } from '../../testing/sign-in-calls.ts'
import { smtpForTest } from '../../testing/smtp-faults.ts'
import { appForTest, testPerNode } from '../../testing/test-app.ts'

/** After this time a server without a reply is given up. */
const SILENCE_MS = 10_000
const AT_ONCE = { timeout: 6000 }

/** The people are of networks of their own. */
const appWith = (smtp: { url: string }) =>
  appForTest({ config: { smtpUrl: smtp.url, trustProxy: ['127.0.0.1'] } })

/** Never answers for recipients whose domain begins with `silent`; takes all other mails. */
async function openPartlySilentSmtp() {
  const arrived: string[] = []
  const tried: string[] = []
  const open = new Map<string, number>()
  const waiting = new Map<string, string>()
  let most = 0
  const port = await smtpForTest({
    disabledCommands: ['STARTTLS'],
    closeTimeout: 100,
    onRcptTo({ address }, session, done) {
      const domain = address.slice(address.indexOf('@') + 1)
      if (!domain.startsWith('silent')) return done()
      tried.push(address)
      open.set(domain, (open.get(domain) ?? 0) + 1)
      most = Math.max(most, open.get(domain) ?? 0)
      waiting.set(session.id, domain)
    },
    onClose({ id }) {
      const domain = waiting.get(id)
      if (domain) open.set(domain, (open.get(domain) ?? 1) - 1)
    },
    onData(stream, { envelope }, done) {
      stream.resume().on('end', () => {
        arrived.push(...envelope.rcptTo.map(({ address }) => address))
        done()
      })
    },
  })
  return { url: `smtp://127.0.0.1:${port}`, arrived, tried, most: () => most }
}

test('thirty recipients of a silent server delay no other code, and are tried two at a time', async () => {
  const smtp = await openPartlySilentSmtp()
  const app = await appWith(smtp)
  for (let n = 0; n < 30; n++) {
    const email = `somebody-${n}@silent.example`
    await startAt(app, '/registrations', { email, ip: `10.7.0.${n}` })
  }
  await expect.poll(() => smtp.tried.length, AT_ONCE).toBeGreaterThanOrEqual(2)
  await startAt(app, '/registrations', { email: 'olga@example.org' })
  await expect.poll(() => smtp.arrived, AT_ONCE).toEqual(['olga@example.org'])
  // The two were given up, and one that was never tried comes before them.
  await expect.poll(() => new Set(smtp.tried).size, { timeout: 30_000 }).toBeGreaterThanOrEqual(4)
  expect(new Set(smtp.tried).size).toBe(smtp.tried.length)
  expect(smtp.most()).toBe(2)
})

test('a mail that is queued while others are looked for is sent at once', async () => {
  const smtp = await openPartlySilentSmtp()
  const app = await appWith(smtp)
  const startFor = (email: string, ip: string) => startAt(app, '/registrations', { email, ip })
  await startFor('somebody-1@silent.example', '10.7.0.1')
  await startFor('somebody-2@silent.example', '10.7.0.2')
  await expect.poll(() => smtp.tried.length, AT_ONCE).toBe(2)
  for (let n = 0; n < 12; n++) {
    const email = `olga-${n}@example.org`
    const others = Array.from({ length: 6 }, (_, m) =>
      startFor(`other-${n}-${m}@silent.example`, `10.9.${n}.${m}`),
    )
    await Promise.all([...others.slice(0, 3), startFor(email, `10.8.0.${n}`), ...others.slice(3)])
    await expect.poll(() => smtp.arrived.at(-1), AT_ONCE).toBe(email)
  }
})

test('one network whose recipients’ servers do not answer, each of another domain, delays nobody of another network', async () => {
  const smtp = await openPartlySilentSmtp()
  const app = await appWith(smtp)
  const since = performance.now()
  for (let n = 0; n < 10; n++) {
    const email = `somebody@silent-${n}.example`
    await startAt(app, '/registrations', { email, ip: '10.7.0.1' })
  }
  await expect.poll(() => smtp.tried.length, AT_ONCE).toBeGreaterThan(0)
  await startAt(app, '/registrations', { email: 'olga@example.org', ip: '10.8.0.1' })
  await expect.poll(() => smtp.arrived, AT_ONCE).toEqual(['olga@example.org'])
  // One at a time. On a slow machine the first is given up before the end.
  const atMost = 1 + Math.floor((performance.now() - since) / SILENCE_MS)
  expect(smtp.tried.length).toBeLessThanOrEqual(atMost)
})

testPerNode('how much one node does at once')(
  'recipients of many domains whose servers do not answer delay no code for somebody with an account',
  async () => {
    const smtp = await openPartlySilentSmtp()
    const app = await appWith(smtp)
    await app.signIn('olga@example.org')
    for (let n = 0; n < 30; n++) {
      const email = `somebody@silent-${n}.example`
      await startAt(app, '/registrations', { email, ip: `10.7.0.${n}` })
    }
    await expect.poll(() => smtp.tried.length, AT_ONCE).toBeGreaterThanOrEqual(3)
    smtp.arrived.length = 0
    await startAt(app, '/logins', { email: 'olga@example.org', clientToken: 'phone' })
    await expect.poll(() => smtp.arrived, AT_ONCE).toEqual(['olga@example.org'])
  },
)
