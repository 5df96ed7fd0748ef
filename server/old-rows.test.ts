import { expect, test } from 'vitest'
import { MIGRATIONS, migrate } from './kernel/db/migrate.ts'
import { passReportTime, report } from './testing/calls/moderation-calls.ts'
import { emptyDatabase } from './testing/database/backups.ts'
import { executeOn } from './testing/database/databases.ts'
import { passDays } from './testing/database/passing-time.ts'
import type { TestUser } from './testing/http/client.ts'
import { appForFile, type TestApp } from './testing/test-app.ts'

// The rules that count people lean on rows that are erased after days or months. Each is tested on
// rows of 31 and 181 days, after what has expired was erased.

const app = await appForFile({ config: { trustProxy: ['127.0.0.1'] } })

let person = 0
/** Registers a person with a mailbox of their own, by default also in a network of their own. */
function register(ip = `198.51.${person >> 8}.${person & 255}`, own = app): Promise<TestUser> {
  return own.signIn(`person-${person++}@example.org`, undefined, { 'x-forwarded-for': ip })
}

/** Whether the reports of all of these hide a post. */
async function hide(reporters: TestUser[], own: TestApp = app): Promise<boolean> {
  await own.sql`DELETE FROM reports`
  const { id: postId } = await own.publish(await own.signUp())
  for (const user of reporters) {
    const { token } = await own.signIn(user.email)
    expect((await report(own, { ...user, token }, { postId })).status).toBe(204)
  }
  await passReportTime(own, 3600)
  const [post] = await own.sql<{ hidden_for: string | null }>`
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
  const before = Object.entries(MIGRATIONS).filter(([name]) => name < '006')
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
