import { expect, test } from 'vitest'
import { MIGRATIONS, migrate } from './kernel/db/migrate.ts'
import { addJob } from './kernel/queue/queue.ts'
import { leave } from './testing/calls/account-deletion-calls.ts'
import {
  decide,
  passReportTime,
  report,
  signUpModerator,
} from './testing/calls/moderation-calls.ts'
import { clientHeaders, startAt, verifyAt, wrongCode } from './testing/calls/sign-in-calls.ts'
import { emptyDatabase } from './testing/database/backups.ts'
import { executeOn } from './testing/database/databases.ts'
import { passDays, passMailLimitTime } from './testing/database/passing-time.ts'
import type { TestUser } from './testing/http/client.ts'
import { appForFile } from './testing/test-app.ts'

// The rules that count people lean on rows that are erased after days or months. Each is tested on
// rows of 31 and 181 days, after what has expired was erased.

const app = await appForFile({ config: { trustProxy: ['127.0.0.1'] } })

let person = 0
/** Registers a person with a mailbox of their own, by default also in a network of their own. */
function register(ip = `198.51.${person >> 8}.${person & 255}`, own = app): Promise<TestUser> {
  return own.signIn(`person-${person++}@example.org`, undefined, { 'x-forwarded-for': ip })
}

/** Whether the reports of all of these hide a post. */
async function hide(reporters: TestUser[], { keepsReports = false } = {}): Promise<boolean> {
  // Undecided reports of one account hide three posts at most.
  await app.sql`DELETE FROM reports WHERE ${keepsReports} <> true OR state = 'open'`
  const { id: postId } = await app.publish(await app.signUp())
  for (const user of reporters) {
    const { token } = await app.signIn(user.email)
    expect((await report(app, { ...user, token }, { postId })).status).toBe(204)
  }
  await passReportTime(app, 3600)
  const [post] = await app.sql<{ hidden_for: string | null }>`
    SELECT hidden_for FROM posts WHERE id = ${postId}`
  return post?.hidden_for === 'reported'
}

test('accounts of one network count as one reporter after 31 and 181 days, also if they registered weeks apart, and others as themselves', async () => {
  const network = '203.0.113.1'
  const puppets = [await register(network), await register(network)]
  await passDays(app, 20)
  puppets.push(await register(network))
  await passDays(app, 20)
  // The network of the first two is forgotten, the third's is not.
  puppets.push(await register(network))
  const people = [await register(), await register()]
  for (const days of [2, 29, 150]) {
    await passDays(app, days)
    expect(await hide(puppets)).toBe(false)
    expect(await hide([...puppets.slice(2), ...people])).toBe(true)
  }
  const known = await app.sql`SELECT FROM users WHERE network_hash IS NOT NULL
    AND created_at < now() - interval '30 days'`
  expect(known).toEqual([])
})

test('accounts of one network that registered at the same moment count as one reporter', async () => {
  const puppets = await Promise.all([1, 2, 3, 4].map(() => register('203.0.113.2')))
  await passDays(app, 31)
  expect(await hide(puppets)).toBe(false)
})

test('an upgrade makes accounts whose network was erased before one reporter, and groups the others by network', async () => {
  const url = await emptyDatabase()
  const before = Object.entries(MIGRATIONS).filter(([name]) => name < '005')
  await migrate(url, { migrations: Object.fromEntries(before) })
  await executeOn(
    url,
    `INSERT INTO users (username, email, email_key, network_hash, created_at)
     SELECT name, name, name, hash, now() - age FROM (VALUES
       ('old_1', NULL, interval '31 days'), ('old_2', NULL, '300 days'), ('local', NULL, '2 days'),
       ('home_1', '\\x01'::bytea, '3 days'), ('home_2', '\\x01', '4 days'), ('office', '\\x02', '5 days')
     ) AS added (name, hash, age)`,
  )
  await migrate(url)
  const groups = await executeOn<{ names: string[] }>(
    url,
    `SELECT array_agg(username ORDER BY username) AS names FROM users
     WHERE network_group IS NOT NULL GROUP BY network_group ORDER BY 1`,
  )
  expect(groups.map(({ names }) => names)).toEqual([
    ['home_1', 'home_2'],
    ['office'],
    ['old_1', 'old_2'],
  ])
})

test.each([31, 181])(
  'after %i days accounts of one mailbox count as one reporter',
  async (days) => {
    const puppets = await Promise.all(
      [1, 2, 3].map((n) =>
        app.signIn(`liar-${days}+${n}@example.org`, undefined, {
          'x-forwarded-for': `192.0.2.${n}`,
        }),
      ),
    )
    await passDays(app, days)
    expect(await hide(puppets)).toBe(false)
    expect(await hide([...puppets, await register(), await register()])).toBe(false)
    await passDays(app, 2)
    expect(await hide([...puppets.slice(0, 1), ...(await registerOld(2))])).toBe(true)
  },
)

/** Registers people who are two days old. */
async function registerOld(count: number): Promise<TestUser[]> {
  const people: TestUser[] = []
  while (people.length < count) people.push(await register())
  await passDays(app, 2)
  return people
}

test.each([
  [29, false],
  [31, true],
  [181, true],
])(
  'after %i days an account with four refused reports hides posts again: %s',
  async (days, isTrusted) => {
    const moderator = await signUpModerator(app)
    const reporters = await registerOld(3)
    const [liar] = reporters as [TestUser]
    const { token } = await app.signIn(liar.email)
    for (let refused = 0; refused < 4; refused++) {
      const { id: postId } = await app.publish(await app.signUp())
      expect((await report(app, { ...liar, token }, { postId })).status).toBe(204)
      const judge = await app.signIn(moderator.email)
      await decide(app, judge, { postId, verdict: 'keep' })
    }
    await passDays(app, days)
    expect(await hide(reporters, { keepsReports: true })).toBe(isTrusted)
  },
)

test.each([31, 181])(
  'after %i days reports of a text that a moderator has kept still change nothing',
  async (days) => {
    const moderator = await signUpModerator(app)
    const reporters = await registerOld(4)
    const { id: postId } = await app.publish(await app.signUp())
    const [first, ...others] = reporters as [TestUser, ...TestUser[]]
    const reportAs = async (user: TestUser) => {
      const { token } = await app.signIn(user.email)
      expect((await report(app, { ...user, token }, { postId })).status).toBe(204)
    }
    await reportAs(first)
    await decide(app, await app.signIn(moderator.email), { postId, verdict: 'keep' })
    await passDays(app, days)
    for (const user of others) await reportAs(user)
    expect((await app.call('GET', `/posts/${postId}`)).status).toBe(200)
  },
)

const MINUTE = 60
const strict = await appForFile({ config: { rateLimitScale: 1, trustProxy: ['127.0.0.1'] } })

/** Strangers ask for codes for an address, from networks of their own, until all are refused. */
async function exhaust(email: string): Promise<void> {
  for (let stranger = 0; stranger < 6; stranger++) {
    await passMailLimitTime(strict, MINUTE)
    await startAt(strict, '/logins', { email, ip: `10.7.${person++ & 255}.${stranger}` })
  }
}

/** Returns the status of a request for a code, after strangers have used up what they share. */
async function askFor(user: TestUser, { ip, browser = '' }: { ip: string; browser?: string }) {
  await exhaust(user.email)
  await passMailLimitTime(strict, MINUTE)
  const { clientToken } = browser ? user : { clientToken: 'another browser' }
  return (await startAt(strict, '/logins', { email: user.email, clientToken, browser, ip })).status
}

test.each([
  [31, 201],
  [179, 201],
  [181, 429],
])(
  'after %i days without a sign-in strangers cannot use up the codes of a known browser: %i',
  async (days, status) => {
    const user = await register(undefined, strict)
    await passDays(strict, days)
    expect(await askFor(user, { ip: '203.0.113.5', browser: user.browser })).toBe(status)
  },
)

test.each([
  [29, 201],
  [31, 429],
  [181, 429],
])(
  'a network is known for as long as a session lives there, %i days after it was used: %i',
  async (days, status) => {
    const ip = `203.0.113.${days}`
    const user = await register(ip, strict)
    await passDays(strict, days)
    expect(await askFor(user, { ip })).toBe(status)
  },
)

test.each([31, 181])(
  'after %i days a mailbox has all its codes and tries again, and a network that was mailed counts as new',
  async (days) => {
    const user = await register(undefined, strict)
    await exhaust(user.email)
    const other = { email: user.email, clientToken: 'another browser', ip: '203.0.113.6' }
    await passMailLimitTime(strict, 30 * MINUTE)
    const { id } = (await startAt(strict, '/logins', other)).body
    const code = wrongCode(strict.codeFor(id))
    for (let n = 0; n < 5; n++) await verifyAt(strict, '/logins', { ...other, id, code })
    await passDays(strict, days)
    expect(await strict.sql`SELECT FROM rate_limits WHERE key NOT LIKE 'newcomer-day/%'`).toEqual(
      [],
    )
    expect(await strict.sql`SELECT FROM mailed_networks`).toEqual([])
    for (let mail = 0; mail < 5; mail++) {
      expect((await startAt(strict, '/logins', { ...other, ip: `203.0.113.${mail}` })).status).toBe(
        201,
      )
      await passMailLimitTime(strict, MINUTE)
    }
  },
)

test.each([31, 181])(
  'after %i days newcomers of a network and domain are not limited by what earlier ones published, and those are no newcomers',
  async (days) => {
    const ip = `203.0.113.${100 + (days % 100)}`
    const publish = ({ token }: TestUser) =>
      strict.call('POST', '/posts', { token, ...clientHeaders(ip), body: { text: 'Привет' } })
    const signIn = (name: string) =>
      strict.signIn(`${name}@newcomers-${days}.example`, undefined, { 'x-forwarded-for': ip })
    const early = await signIn('early')
    expect((await publish(early)).status).toBe(201)
    await strict.sql`UPDATE rate_limits SET arrival = now() + 30 * interval '5 minutes'
    WHERE key LIKE 'newcomer-%-post/%'`
    const refused = await publish(early)
    expect(refused.body.code).toBe('TOO_MANY_REQUESTS')
    await passDays(strict, days)
    const late = await signIn('late')
    expect((await publish(late)).status).toBe(201)
    await strict.sql`UPDATE rate_limits SET arrival = now() + 30 * interval '5 minutes'
    WHERE key LIKE 'newcomer-%-post/%'`
    expect((await publish(late)).status).toBe(429)
    const again = await signIn('early')
    expect((await publish(again)).status).toBe(201)
  },
)

test.each([31, 181])(
  'after %i days a blocked person who has left is still blocked under another spelling of the mailbox',
  async (days) => {
    const moderator = await signUpModerator(app)
    const name = `blocked-${days}`
    const user = await app.signIn(`${name}@example.org`)
    const { id: postId } = await app.publish(user)
    await report(app, moderator, { postId })
    const block = { days: null }
    await decide(app, moderator, { postId, verdict: 'remove', reason: 'Травля', block })
    expect((await leave(app, await app.signIn(user.email, user.clientToken))).status).toBe(200)
    await passDays(app, 15)
    await addJob(app.db, 'move-accounts')
    await expect.poll(() => app.sql`SELECT FROM users WHERE id = ${user.id}`).toEqual([])
    await passDays(app, days)
    const again = await app.signIn(`${name}+again@example.org`)
    const { token } = again
    const sent = { token, body: { text: 'Снова я' } }
    expect((await app.call('POST', '/posts', sent)).body.code).toBe('BLOCKED')
  },
)
