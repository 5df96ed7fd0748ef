import { expect } from 'vitest'
import type { Post } from '../../../contract/posts.ts'
import { stopClock } from '../../testing/database/passing-time.ts'
import { captureStatements } from '../../testing/database/plans.ts'
import { PAST_CACHE, type TestUser } from '../../testing/http/client.ts'
import { expectTooMany } from '../../testing/http/expect-refusal.ts'
import { appForFile, appForTest, type TestApp, testPerNode } from '../../testing/test-app.ts'

const test = testPerNode('responses that each node caches for itself')

// Reads from the cache are logged at this level.
const app = await appForFile({ config: { logLevel: 'debug' } })
const olga = await app.signUp()
await app.publish(olga)

const readWall = (on: TestApp, { token }: TestUser, headers = {}) =>
  on.call('GET', '/posts', { token, headers })

/** Reads until the wall is cached: then nobody looks for posts. Returns the last answers. */
async function readCached(on: TestApp, ...users: TestUser[]) {
  let answers: Awaited<ReturnType<typeof readWall>>[] = []
  await expect
    .poll(async () => {
      const statements = await captureStatements(async () => {
        answers = await Promise.all(users.map((user) => readWall(on, user)))
      })
      return statements.some(({ text }) => text.includes('visible_posts'))
    })
    .toBe(false)
  return answers
}

/** The lines of reads of the wall; mails are logged too, when they leave. */
const wallLines = () => app.logged.filter((line) => line.includes('"route":"/api/v1/posts"'))

async function lineOf(readsBefore: number) {
  await expect.poll(() => wallLines().length).toBeGreaterThan(readsBefore)
  const { reqId: _, time: __, ms, ...line } = JSON.parse(wallLines().at(-1) ?? '')
  expect(typeof ms).toBe('number')
  return line
}

test('a signed-in read from the cache has the headers, body and log line of any other, but no time of queries', async () => {
  const vera = await app.signUp()
  await readWall(app, vera)
  let logged = wallLines().length
  const read = await readWall(app, vera, PAST_CACHE)
  const { dbMs, ...line } = await lineOf(logged)
  expect(typeof dbMs).toBe('number')
  logged = wallLines().length
  const [cached] = await readCached(app, vera)
  expect(await lineOf(logged)).toEqual({ ...line, level: 'debug' })
  const expected = { level: 'info', route: '/api/v1/posts', status: 200, userId: vera.id }
  expect(line).toMatchObject(expected)
  expect(cached?.body).toEqual(read.body)
  const sent = [read, cached].map((answer) => {
    const { date: _, ...headers } = Object.fromEntries(answer?.headers ?? [])
    return headers
  })
  expect(sent[1]).toEqual(sent[0])
})

test('users who read from the cache at once see their own likes, and a visitor none', async () => {
  const other = await appForTest({ databaseUrl: app.databaseUrl })
  const [first, second] = [await app.publish(olga), await app.publish(olga)]
  const [vera, petr, anna] = [await app.signUp(), await app.signUp(), await app.signUp()]
  // On another node: on this one, whoever has just written reads past the cache.
  const like = ({ token }: TestUser, { id }: Post) =>
    other.call('POST', `/posts/${id}/likes`, { token })
  for (const user of [vera, petr]) expect((await like(user, first)).status).toBe(200)
  expect((await like(petr, second)).status).toBe(200)
  const answers = await readCached(app, vera, petr, anna, vera, petr, anna)
  answers.push(await app.call('GET', '/posts'))
  const likedIn = ({ body }: (typeof answers)[number]) =>
    body.posts.flatMap(({ id, actions }: Post) => (actions.is_liked ? [id] : []))
  const likes = [[first.id], [second.id, first.id], []]
  expect(answers.map(likedIn)).toEqual([...likes, ...likes, []])
})

test('a session closed on any node is refused, although its token is known and others read the same from the cache', async () => {
  const vera = await app.signUp()
  const [phone, tablet] = [await app.signIn(vera.email), await app.signIn(vera.email)]
  const [liked, unliked] = [await app.publish(olga), await app.publish(olga)]
  const elsewhere = await appForTest({ databaseUrl: app.databaseUrl })
  const call = { token: vera.token }
  expect((await elsewhere.call('POST', `/posts/${liked.id}/likes`, call)).status).toBe(200)
  const isLiked = async ({ token }: TestUser, { id }: Post) => {
    const { status, body } = await app.call('GET', `/posts/${id}`, { token })
    return status === 200 ? body.actions.is_liked : status
  }
  const reads = [vera, phone, tablet].flatMap((reader) =>
    [liked, unliked].map((post) => () => isLiked(reader, post)),
  )
  const readAll = () => Promise.all(reads.map((read) => read()))
  expect(await readAll()).toEqual([true, false, true, false, true, false])
  expect((await elsewhere.call('DELETE', '/sessions/current', tablet)).status).toBe(204)
  for (let times = 0; times < 3; times++) {
    expect(await readAll()).toEqual([true, false, true, false, 401, 401])
  }
})

test('all calls of a user: 1,500 in 5 minutes, with reads from the cache, also if the session is closed; they are not counted for the address', async () => {
  stopClock()
  const [vera, petr] = [await app.signUp(), await app.signUp()]
  const limited = await appForTest({
    databaseUrl: app.databaseUrl,
    config: { rateLimitScale: 0.01 },
  })
  const callsUntilRefused = async ({ token }: TestUser, expected: number) => {
    for (let calls = 0; ; calls++) {
      const answer = await limited.call('GET', '/posts', { token })
      if (answer.status === 429) return { calls, answer }
      expect(answer.status).toBe(expected)
    }
  }
  await readCached(limited, olga)
  const served = await callsUntilRefused(vera, 200)
  expect(served.calls).toBe(15)
  expectTooMany(served.answer, { most: 20 })
  expectTooMany(await limited.call('GET', '/sessions', { token: vera.token }), { most: 20 })
  expect((await limited.call('GET', '/posts')).status).toBe(200)
  await limited.db.deleteFrom('sessions').where('user_id', '=', petr.id).execute()
  expect((await callsUntilRefused(petr, 401)).calls).toBe(15)
})
