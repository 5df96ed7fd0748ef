import { expect, test } from 'vitest'
import { deriveKey } from '../../kernel/config/app-secret.ts'
import { MIGRATIONS, migrate } from '../../kernel/db/migrate.ts'
import { Limits } from '../../kernel/limits/limits.ts'
import { startAt } from '../../testing/calls/sign-in-calls.ts'
import { emptyDatabase } from '../../testing/database/backups.ts'
import { executeOn } from '../../testing/database/databases.ts'
import { passMailLimitTime, passTime } from '../../testing/database/passing-time.ts'
import { SECRET, strictApp } from '../../testing/test-app.ts'
import { hashMailedNetwork } from './code-quota.ts'
import { removeOldMailedNetworks } from './mailed-networks.repository.ts'

const MINUTE = 60
const DAY = 86_400
const [MAILED, NEW, LATE] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'] as const

/** An account whose codes strangers request, a minute after each other. */
async function openMailbox() {
  const app = await strictApp()
  const owner = await app.signUp()
  let number = 0
  const ask = async (ip: string) => {
    await passMailLimitTime(app, MINUTE)
    const clientToken = `stranger ${number++}`
    return (await startAt(app, '/logins', { email: owner.email, clientToken, ip })).status
  }
  return {
    app,
    owner,
    ask,
    /** Requests as many mails as a network gets that was mailed. */
    async askFour() {
      for (let mail = 0; mail < 4; mail++) expect(await ask(MAILED)).toBe(201)
      expect(await ask(MAILED)).toBe(429)
    },
    passDays: (days: number) => passTime(app.db, days * DAY, 'mailed_networks', 'mailed_at'),
    mailed: () => app.db.selectFrom('mailed_networks').select('hash').execute(),
  }
}

test('the mail that is kept for new networks is for each of them once in 30 days', async () => {
  const { app, ask, askFour, passDays } = await openMailbox()
  await askFour()
  expect(await ask(NEW)).toBe(201)
  await passMailLimitTime(app, 30 * MINUTE)
  expect(await ask(NEW)).toBe(429)
  expect(await ask(MAILED)).toBe(429)
  await passDays(29)
  expect(await ask(MAILED)).toBe(429)
  await passDays(1)
  expect(await ask(MAILED)).toBe(201)
})

test('a network that got no mail stays new', async () => {
  const { app, ask, askFour, mailed } = await openMailbox()
  await askFour()
  expect(await ask(NEW)).toBe(201)
  expect(await ask(LATE)).toBe(429)
  expect(await mailed()).toHaveLength(2)
  await passMailLimitTime(app, 30 * MINUTE)
  expect(await ask(LATE)).toBe(201)
})

test('the request of a known browser does not make its network a mailed one', async () => {
  const { app, owner, mailed } = await openMailbox()
  expect((await startAt(app, '/logins', { ...owner, ip: NEW })).status).toBe(201)
  expect(await mailed()).toEqual([])
})

test('a network that was mailed while the clock was an hour ahead is new, and is forgotten', async () => {
  const { app, ask, askFour, passDays, mailed } = await openMailbox()
  await askFour()
  await passDays(-1 / 24)
  expect(await ask(MAILED)).toBe(201)
  await passDays(-1 / 24)
  await removeOldMailedNetworks(app.db)
  expect(await mailed()).toEqual([])
})

test('an upgrade remembers the networks that were mailed before it', async () => {
  const url = await emptyDatabase()
  const before = Object.entries(MIGRATIONS).filter(([name]) => name < '010')
  await migrate(url, { migrations: Object.fromEntries(before) })
  const key = (purpose: string) => deriveKey(SECRET, purpose)
  const counts = new Limits({
    db: undefined as never,
    scale: 1,
    hashKey: key('limits'),
    onTrip() {},
  })
  const keyOf = (ip: string) => {
    const limit = { name: 'mailed-network', rates: [[1, 30 * DAY]], refusal: '', isShared: true }
    const subject = `olga@example.org\n${ip}`
    return counts.toStored([{ limit: limit as never, key: subject }])[0]?.key
  }
  await executeOn(
    url,
    `INSERT INTO rate_limits (key, charged_at, arrival) VALUES
       ('${keyOf(MAILED)}', now() - interval '10 days', now() + interval '20 days'),
       ('${keyOf(NEW)}', now() - interval '1 day', now() - interval '1 day'),
       ('code-mail/60 of another limit', now(), now() + interval '1 minute')`,
  )
  await migrate(url)
  const hash = hashMailedNetwork({ email: 'olga@example.org', ip: MAILED }, key)
  const left = await executeOn(
    url,
    `SELECT hash, extract(day FROM now() - mailed_at)::int AS days FROM mailed_networks`,
  )
  expect(left).toEqual([{ hash, days: 10 }])
  expect(await executeOn(url, 'SELECT key FROM rate_limits')).toEqual([
    { key: 'code-mail/60 of another limit' },
  ])
})
