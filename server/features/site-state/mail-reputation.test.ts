import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { readMailHealth } from '../../kernel/mail/mail-log.repository.ts'
import { endPause, pauseMails } from '../../kernel/mail/outbox.repository.ts'
import { queueMail, wakeSenders } from '../../kernel/mail/queue-mail.ts'
import { checkMailQueue, checkMailReputation } from '../../operations/doctor/mail-checks.ts'
import {
  clientHeaders,
  ONE_BROWSER,
  readMailState,
  startAt,
  verifyAt,
} from '../../testing/calls/sign-in-calls.ts'
import { inNoTime, passLimitTime } from '../../testing/database/passing-time.ts'
import { browserOf } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { mailboxForTest } from '../../testing/mail/mailbox.ts'
import { envOf, runHere } from '../../testing/process/run-command.ts'
import { appForTest, type TestApp } from '../../testing/test-app.ts'
import { readMailReputation } from './mail-reputation.service.ts'

const OPERATOR = 'anna@wall.example'
const OLGA = 'olga@example.org'
const HOUR = 3600

/** Two nodes under the limits of a real wall, whose mail server refuses mailboxes of gone.example. */
async function nodesForTest() {
  const of = (address: string) => address.endsWith('@gone.example')
  const refusal = { code: 550, words: '5.1.1 no such mailbox', of }
  const mailbox = await mailboxForTest(0, { refusal })
  const limits = { rateLimitScale: 1, trustProxy: ['127.0.0.1'] }
  const config = { ...limits, smtpUrl: mailbox.url, moderatorEmails: [OPERATOR] }
  const app = await appForTest({ config })
  const other = await appForTest({ config, databaseUrl: app.databaseUrl })
  let people = 0
  return {
    app,
    mailbox,
    /** Somebody in this network asks one of the two nodes for a code. */
    ask(domain: string, network: number) {
      const n = people++
      const email = `somebody-${n}@${domain}`
      return startAt(n % 2 ? other : app, '/registrations', { email, ip: `10.7.${network}.1` })
    },
    /** Registers Olga from a network of her own. */
    signUp: () => app.signIn(OLGA, 'laptop', clientHeaders('10.8.0.1').headers),
    /** Olga signs in on a new phone. */
    async signIn(ip: string) {
      await passLimitTime(app, 60)
      const by = { clientToken: 'phone', ip }
      const { id } = (await startAt(other, '/logins', { email: OLGA, ...by })).body
      const code = await mailbox.codeFor(OLGA, 2)
      expect((await verifyAt(other, '/logins', { id, code, ...by })).status).toBe(200)
    },
    expectRefused: (refused: number, networks: number) =>
      expect.poll(() => readMailReputation(app.db)).toMatchObject({ refused, networks }),
    mailsToOperator: () => mailbox.mails.filter(({ to }) => to === OPERATOR),
  }
}

const statesOf = async (app: TestApp) => {
  const rows = await app.sql<{ state: string; mails: number }>`
    SELECT state, count(*)::int AS mails FROM outbox WHERE is_to_new_address GROUP BY state`
  return Object.fromEntries(rows.map(({ state, mails }) => [state, mails]))
}

const HELD = 300

/** Keeps slowed mails from becoming due while a slow machine works, until `passTime` frees them. */
const holdMails = (app: TestApp) => app.sql`
  UPDATE outbox SET due_at = due_at + ${HELD} * interval '1 second' WHERE state = 'slowed'`

/** Everything that was refused or has waited did so earlier. It awaits the mails that are due. */
async function passTime(app: TestApp, seconds: number, held = 0): Promise<void> {
  const atWork = () => app.sql`SELECT id FROM outbox
    WHERE payload IS NOT NULL AND (claimed_until IS NOT NULL OR due_at <= now())`
  await expect.poll(atWork).toEqual([])
  const passed = sql`${seconds} * interval '1 second'`
  await passLimitTime(app, seconds)
  await app.sql`UPDATE outbox SET at = at - ${passed},
    due_at = due_at - ${passed} - ${held} * interval '1 second'`
  await app.sql`UPDATE mail_refusals SET at = at - ${passed}`
  await app.sql`UPDATE site_state SET mails_refused_at = mails_refused_at - ${passed}`
  await wakeSenders(app.db)
}

test('a network that asks for codes to five mailboxes that do not exist waits on every node until an hour is over, and nobody else does', async () => {
  const { app, ask, signUp, signIn, expectRefused, mailsToOperator } = await nodesForTest()
  await signUp()
  for (let network = 1; network <= 4; network++) {
    for (let n = 0; n < 5; n++) expect((await ask('gone.example', network)).status).toBe(201)
    await expectRefused(5 * network, network)
  }
  for (let n = 0; n < 2; n++) {
    const refused = await ask('example.org', 1)
    expectRefusal(refused, 'TOO_MANY_REQUESTS')
    expect(refused.body.message).toMatch(
      /^Из вашей сети слишком часто просят коды на адреса, которых нет\. Следующий .+ по Москве$/,
    )
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(HOUR - 60)
    expect(seconds).toBeLessThanOrEqual(HOUR)
  }
  await signIn('10.7.1.1')
  expect((await ask('example.org', 5)).status).toBe(201)
  expect(await readMailReputation(app.db)).toMatchObject({ isSlowed: false })
  expect(checkMailReputation(await readMailReputation(app.db))).toMatchObject({ level: 'ok' })
  expect(mailsToOperator()).toEqual([])

  await passTime(app, HOUR)
  expect((await ask('example.org', 1)).status).toBe(201)
})

test('of codes to ten mailboxes that do not exist, asked for at once by one network, five reach the mail server', async () => {
  const { app, ask } = await nodesForTest()
  const answers = await Promise.all(Array.from({ length: 10 }, () => ask('gone.example', 1)))
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201))
  await expect.poll(() => statesOf(app)).toEqual({ refused: 5, slowed: 5 })
  const shown = answers.map(async (answer) => {
    const asked = await readMailState(app, answer.body.id, ONE_BROWSER, browserOf(answer))
    return asked.body.state
  })
  const fiveEach = [...Array(5).fill('refused'), ...Array(5).fill('retrying')]
  expect((await Promise.all(shown)).sort()).toEqual(fiveEach)
})

test('a newcomer of a network without a refusal waits behind none of twelve networks that had one', async () => {
  const { app, mailbox, ask, expectRefused } = await nodesForTest()
  for (let n = 0; n < 20; n++) await ask('gone.example', n % 12)
  await expectRefused(20, 12)
  for (let network = 0; network < 12; network++) await ask('example.com', network)
  expect((await ask('example.org', 50)).status).toBe(201)
  await mailbox.mailTo('somebody-32@example.org')
  // One of the others leaves every ten seconds.
  expect((await statesOf(app)).slowed).toBeGreaterThan(0)
})

test('twenty refusals for ten networks slow the mails to new addresses to one in ten seconds, of one network to one in two minutes, while known people sign in and the operator gets one mail', async () => {
  const { app, mailbox, ask, signUp, signIn, expectRefused, mailsToOperator } = await nodesForTest()
  await signUp()
  for (let n = 0; n < 19; n++) await ask('gone.example', n % 9)
  await expectRefused(19, 9)
  await ask('gone.example', 8)
  await expectRefused(20, 9)
  expect(await readMailReputation(app.db)).toMatchObject({ isSlowed: false })
  await ask('gone.example', 10)
  await expectRefused(21, 10)

  // Of five more one leaves at once, and then one in ten seconds, though one network asked first.
  const before = (await statesOf(app)).sent ?? 0
  const askOf = async (n: number) => expect((await ask(`of-${n}.example`, n)).status).toBe(201)
  await inNoTime(app, async () => {
    await askOf(20)
    await expect.poll(() => statesOf(app)).toMatchObject({ sent: before + 1 })
    await pauseMails(app.db)
    for (const n of [20, 20, 21, 22]) await askOf(n)
  })
  await endPause(app.db)
  await expect.poll(() => statesOf(app)).toMatchObject({ sent: before + 1, slowed: 4 })
  await holdMails(app)
  await signIn('10.9.0.1')
  expect(checkMailQueue(await readMailHealth(app.db))).toMatchObject({ level: 'ok' })
  for (let sent = before + 2; sent <= before + 5; sent++) {
    await passTime(app, sent > before + 3 ? 120 : 10, HELD)
    await expect.poll(() => statesOf(app)).toMatchObject({ sent })
    await holdMails(app)
  }
  const addresses = mailbox.mails.map(({ to }) => to).filter((to) => to.includes('@of-'))
  const order = addresses.map((to) => to.includes('@of-20'))
  expect(order).toEqual([true, false, false, true, true])
  const status = await runHere(envOf(app), ['status'])
  expect(status.out).toContain('регистрация открыта')
  expect(status.out).toMatch(/за час: 21, сетей: 10; письма новым адресам уходят медленно/)
  const doctor = await runHere(envOf(app), ['doctor'])
  expect(doctor.code).toBe(1)
  expect(doctor.out).toMatch(/которых нет, за час: 21, сетей: 10; .* vslukh ban add/s)
  await ask('gone.example', 11)
  await passTime(app, 10)
  await expectRefused(22, 11)
  await expect.poll(() => mailsToOperator().length).toBe(1)
  const told = await mailbox.mailTo(OPERATOR)
  expect(told.subject).toMatch(/Отклонено писем за час: 2\d/)
  expect(told.text).toContain('по одному в 10 секунд')

  await passTime(app, HOUR)
  expect(await readMailReputation(app.db)).toEqual({ refused: 0, networks: 0, isSlowed: false })
  for (let n = 0; n < 2; n++) await ask('example.org', 30 + n)
  await expect.poll(() => statesOf(app)).toMatchObject({ sent: before + 7 })
  expect(mailsToOperator()).toHaveLength(1)
  // A mail that leaves late states what happened before it was queued.
  const late = { to: OPERATOR, refused: 20, networks: 10 }
  await queueMail(app.db, 'send-refusals-mail', late)
  expect((await mailbox.mailTo(OPERATOR, 2)).subject).toContain('за час: 20')
})
