import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { readJournal } from '../../kernel/journal/journal.ts'
import { mailHealth } from '../../kernel/mail/mail-health.repository.ts'
import { wakeSenders } from '../../kernel/mail/queue-mail.ts'
import { checkMailName, checkMailQueue } from '../../operations/doctor/mail-checks.ts'
import { DEVICE } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { openMailbox } from '../../testing/mailbox.ts'
import { passLimitTime } from '../../testing/passing-time.ts'
import { envOf, runHere } from '../../testing/run-command.ts'
import { from, startAt, verifyAt } from '../../testing/sign-in-calls.ts'
import { appForTest, type TestApp } from '../../testing/test-app.ts'
import { readMailName } from './mail-name.service.ts'
import { closeSite, invite, openSite } from './site-state.service.ts'

const OPERATOR = 'anna@wall.example'
const HOUR = 3600
/** A tenth of 2000 an hour. */
const SLOWED_SECONDS = 18

/** Two nodes under the limits of a real wall, whose mail server refuses mailboxes of gone.example. */
async function nodesForTest() {
  const mailbox = await openMailbox(0, (address) => address.endsWith('@gone.example'))
  onTestFinished(() => mailbox.close())
  const limits = { rateLimitScale: 1, trustProxy: ['127.0.0.1'] }
  const config = { ...limits, smtpUrl: mailbox.url, moderatorEmails: [OPERATOR] }
  const app = await appForTest({ config })
  const other = await appForTest({ config, databaseUrl: app.databaseUrl })
  let people = 0
  /** Somebody in a network of their own asks one of the two nodes for a code. */
  const ask = (domain: string, path: '/registrations' | '/logins' = '/registrations') => {
    const n = people++
    const email = `somebody-${n}@${domain}`
    return startAt(n % 2 ? other : app, path, { email, ip: `10.7.${n}.1` })
  }
  const askMany = async (count: number, domain: string) => {
    for (let n = 0; n < count; n++) expect((await ask(domain)).status).toBe(201)
  }
  const expectMails = (ended: number, refused: number) =>
    expect.poll(() => readMailName(app.db)).toMatchObject({ ended, refused })
  const mailsToOperator = () => mailbox.mails.filter(({ to }) => to === OPERATOR)
  return { app, other, mailbox, ask, askMany, expectMails, mailsToOperator }
}

const statesOf = async ({ db }: TestApp) => {
  const { rows } = await sql<{ state: string; mails: number }>`
    SELECT state, count(*)::int AS mails FROM outbox WHERE is_to_new_address GROUP BY state`.execute(
    db,
  )
  return Object.fromEntries(rows.map(({ state, mails }) => [state, mails]))
}

/** Everything that was refused or has waited did so earlier. It awaits the mails that are due. */
async function passTime(app: TestApp, seconds: number): Promise<void> {
  const atWork = sql`SELECT id FROM outbox
    WHERE payload IS NOT NULL AND (claimed_until IS NOT NULL OR due_at <= now())`
  await expect.poll(async () => (await atWork.execute(app.db)).rows).toEqual([])
  const passed = sql`${seconds} * interval '1 second'`
  await passLimitTime(app, seconds)
  await sql`UPDATE outbox SET at = at - ${passed}, due_at = due_at - ${passed}`.execute(app.db)
  await sql`UPDATE site_state SET mails_refused_at = mails_refused_at - ${passed},
    registrations_paused_until = registrations_paused_until - ${passed}`.execute(app.db)
  await wakeSenders(app.db)
}

test('a raid with dead addresses is slowed, then closes registrations on every node for an hour, while known people sign in and the operator gets one mail', async () => {
  const { app, other, mailbox, ask, askMany, expectMails, mailsToOperator } = await nodesForTest()
  const known = ['olga@example.org', 'petr@example.org', 'ivan@example.org']
  for (const [n, email] of known.entries()) {
    const { body } = await startAt(app, '/registrations', { email, ip: `10.8.${n}.1` })
    await verifyAt(app, '/registrations', { id: body.id, code: app.codeFor(body.id) })
  }
  const signIn = async (email: string) => {
    await passLimitTime(app, 60)
    const { body } = await startAt(other, '/logins', {
      email,
      clientToken: 'phone',
      ip: '10.9.0.1',
    })
    const code = await mailbox.codeFor(email, 2)
    const guess = { id: body.id, code, clientToken: 'phone', ip: '10.9.0.1' }
    expect((await verifyAt(other, '/logins', guess)).status).toBe(200)
  }
  await askMany(13, 'example.org')
  await expectMails(16, 0)
  await askMany(4, 'gone.example')
  await expectMails(20, 4)
  expect(await readMailName(app.db)).toMatchObject({ isSlowed: false })
  await askMany(1, 'gone.example')
  await expectMails(21, 5)

  // Of six more one leaves at once, and then one in 18 seconds.
  await askMany(6, 'gone.example')
  await expect.poll(() => statesOf(app)).toEqual({ sent: 16, refused: 6, slowed: 5 })
  await signIn('olga@example.org')
  const status = await runHere(envOf(app), ['status'])
  expect(status.out).toContain('регистрация открыта')
  expect(status.out).toMatch(/Новым адресам отклонено: 6 из 22, поэтому .* медленно/)
  expect(checkMailName(await readMailName(app.db))).toMatchObject({ level: 'broken' })
  expect(checkMailQueue(await mailHealth(app.db))).toMatchObject({ level: 'ok' })
  for (let refused = 7; refused <= 11; refused++) {
    expect((await readMailName(app.db)).isPaused).toBe(false)
    await passTime(app, SLOWED_SECONDS)
    await expectMails(16 + refused, refused)
  }

  for (let n = 0; n < 2; n++) {
    const refused = await ask('example.org')
    expectRefusal(refused, 'REGISTRATION_CLOSED')
    expect(refused.body.message).toMatch(
      /^Регистрация закрыта: много кодов запросили на несуществующие адреса\. Откроется сама .+ по Москве$/,
    )
  }
  await signIn('petr@example.org')
  expect((await runHere(envOf(app), ['status'])).out).toContain('регистрация закрыта (много кодов')
  const doctor = await runHere(envOf(app), ['doctor'])
  expect(doctor.code).toBe(1)
  expect(doctor.out).toMatch(/писем новым адресам за час: 27, отклонено: 11; .* vslukh ban add/s)
  expect(doctor.out).toContain('регистрация закрыта: много кодов')
  expect(await readJournal(app.db, { sinceSeconds: 60 })).toMatchObject([
    { actor: 'vslukh', action: 'registrations.close', details: { ended: 27, refused: 11 } },
  ])

  const options = { days: 7, uses: 1, note: null, origin: 'https://wall.example', actor: 'olga' }
  const [, invitation = ''] = (await invite(app.db, options)).link.split('#')
  const asked = { clientToken: 'guest', device: DEVICE, invitation, email: 'guest@example.org' }
  const guest = await app.call('POST', '/registrations', { body: asked, ...from('10.9.1.1') })
  await passTime(app, SLOWED_SECONDS)
  const confirmCode = await mailbox.codeFor('guest@example.org')
  const proof = { confirmCode, clientToken: 'guest', invitation }
  const verified = await app.call('POST', `/registrations/${guest.body.id}/verify`, { body: proof })
  expect(verified.status).toBe(200)

  await passTime(app, HOUR)
  await askMany(2, 'example.org')
  await expectMails(2, 0)
  expect(await readMailName(app.db)).toMatchObject({ isSlowed: false, isPaused: false })
  await signIn('ivan@example.org')
  expect(checkMailName(await readMailName(app.db))).toMatchObject({ level: 'ok' })
  const [told, ...more] = mailsToOperator()
  expect(more).toEqual([])
  expect(told?.subject).toContain('Отклонено писем новым адресам: 5 из 21')
  expect(told?.text).toContain('регистрация на час закроется сама')
})

test('twenty good newcomers and four mistyped addresses change nothing', async () => {
  const { app, askMany, expectMails, mailsToOperator } = await nodesForTest()
  await askMany(4, 'gone.example')
  await askMany(20, 'example.org')
  await expectMails(24, 4)
  expect(await readMailName(app.db)).toMatchObject({ isSlowed: false, isPaused: false })
  expect(await statesOf(app)).toEqual({ sent: 20, refused: 4 })
  expect(mailsToOperator()).toEqual([])
})

test('three dead addresses in ten slow the codes to new addresses, and registrations stay open', async () => {
  const { app, mailbox, askMany, expectMails, mailsToOperator } = await nodesForTest()
  await askMany(14, 'example.org')
  await expectMails(14, 0)
  await askMany(6, 'gone.example')
  await expectMails(20, 6)
  expect(await readMailName(app.db)).toMatchObject({ isSlowed: true, isPaused: false })
  await mailbox.mailTo(OPERATOR)
  await askMany(3, 'example.org')
  await expect.poll(() => statesOf(app)).toEqual({ sent: 15, refused: 6, slowed: 2 })
  await passTime(app, SLOWED_SECONDS)
  await expectMails(22, 6)
  expect(mailsToOperator()).toHaveLength(1)
})

test('the twentieth dead address closes registrations, as it does again after the operator has opened them; those that the operator closes stay closed', async () => {
  const { app, ask, askMany, expectMails, mailsToOperator } = await nodesForTest()
  await askMany(19, 'gone.example')
  await expectMails(19, 19)
  expect(await readMailName(app.db)).toMatchObject({ isSlowed: false, isPaused: false })
  await askMany(1, 'gone.example')
  await expectMails(20, 20)
  expect((await readMailName(app.db)).isPaused).toBe(true)
  expectRefusal(await ask('example.org'), 'REGISTRATION_CLOSED')

  await openSite(app.db, { part: 'registrations', actor: 'olga' })
  await askMany(19, 'gone.example')
  await expectMails(19, 19)
  expect((await readMailName(app.db)).isPaused).toBe(false)
  await askMany(1, 'gone.example')
  await expect.poll(async () => (await readMailName(app.db)).isPaused).toBe(true)

  await closeSite(app.db, { part: 'registrations', reason: 'Разбираем спам', actor: 'olga' })
  await passTime(app, HOUR)
  const refused = await ask('example.org')
  expect(refused.body.message).toBe('Регистрация закрыта: Разбираем спам')
  expect(mailsToOperator()).toHaveLength(1)
})
