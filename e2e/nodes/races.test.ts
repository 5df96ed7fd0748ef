import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findCounterDifferences } from '../../server/posts/counters.task.ts'
import { atOnce } from '../../server/testing/at-once.ts'
import { DEVICE, type TestAnswer, type TestUser } from '../../server/testing/client.ts'
import { countCodes } from '../../server/testing/sign-in-calls.ts'
import { type Pair, pairForTest, startPair } from './pair.ts'

let pair: Pair
let users: TestUser[]
beforeAll(async () => {
  pair = await startPair()
  users = await atOnce(times(16, () => pair.signUp()))
})
afterAll(() => pair?.close())

test('50 right codes at once, on both nodes: one session', async () => {
  const email = 'races@example.org'
  const { body } = await startFor(pair, email)
  const sent = { confirmCode: pair.codeFor(body.id), clientToken: 'one browser' }
  const answers = await Promise.all(
    times(50, () => pair.call('POST', `/registrations/${body.id}/verify`, { body: sent })).map(
      (verify) => verify(),
    ),
  )
  // Right codes that were compared after the first one are too late; after five attempts none is compared.
  const { ok, OPERATION_EXPIRED = 0, MAX_CONFIRM_ATTEMPTS = 0 } = countCodes(answers)
  expect(ok).toBe(1)
  expect(OPERATION_EXPIRED + MAX_CONFIRM_ATTEMPTS).toBe(49)
  const sessions = await sql`SELECT FROM sessions s JOIN users u ON u.id = s.user_id
    WHERE u.email = ${email}`.execute(pair.db)
  expect(sessions.rows).toHaveLength(1)
})

test('200 wrong codes at once, on both nodes: five are compared', async () => {
  const { body } = await startFor(pair, 'guesses@example.org')
  const right = pair.codeFor(body.id)
  const confirmCode = right === '000000' ? '111111' : '000000'
  const guess = () =>
    pair.call('POST', `/registrations/${body.id}/verify`, {
      body: { confirmCode, clientToken: 'one browser' },
    })
  expect(countCodes(await atOnce(times(200, guess)))).toEqual({
    INVALID_CONFIRM_CODE: 5,
    MAX_CONFIRM_ATTEMPTS: 195,
  })
})

test('16 users racing for one name in mixed case, on both nodes: one gets it', async () => {
  const claim = ({ token }: TestUser, n: number) =>
    pair.call('PATCH', '/users/current/profile', {
      token,
      body: { username: n % 2 ? 'Racing_Name' : 'racing_name' },
    })
  const answers = await Promise.all(users.map(claim))
  expect(countCodes(answers)).toEqual({ ok: 1, USERNAME_ALREADY_EXISTS: 15 })
})

test('likes and unlikes racing on both nodes: the count equals the rows', async () => {
  const [olga] = users
  if (!olga) throw new Error('nobody signed up')
  const post = await pair.publish(olga)
  const calls = users.flatMap(({ token }) =>
    ['POST', 'DELETE', 'POST', 'DELETE', 'POST'].map(
      (method) => () => pair.call(method, `/posts/${post.id}/likes`, { token }),
    ),
  )
  expect(statuses(await atOnce(calls))).toEqual([200])
  const rows = await sql`SELECT FROM likes WHERE post_id = ${post.id}`.execute(pair.db)
  const { body } = await pair.call('GET', `/posts/${post.id}`, { token: olga.token })
  expect(body.actions.likes_count).toBe(rows.rows.length)
  expect(await findCounterDifferences(pair.db)).toEqual([])
})

test('20 starts at once, on both nodes: one operation and one mail', async () => {
  const email = 'starts@example.org'
  const answers = await Promise.all(times(20, () => startFor(pair, email)).map((start) => start()))
  expect(statuses(answers)).toEqual([201])
  const ids = new Set(answers.map(({ body }) => body.id))
  expect(ids.size).toBe(1)
  expect(await pair.mailbox.codeFor(email)).toBe(pair.codeFor(answers[0]?.body.id))
  await expect.poll(() => jobsLeft(pair)).toBe(0)
  expect(pair.mailbox.mails.filter(({ to }) => to === email)).toHaveLength(1)
})

test('the limits that guard sign-in are one for both nodes: 10 code requests and 20 code checks a minute for a network', async () => {
  const strict = await pairForTest({ RATE_LIMIT_SCALE: '1' })
  const headers = { 'x-forwarded-for': '192.0.2.1' }
  const starts: TestAnswer[] = []
  for (let n = 0; n < 10; n++) starts.push(await startFor(strict, `n${n}@example.org`, headers))
  expect(statuses(starts)).toEqual([201])
  const { id } = starts[0]?.body ?? {}
  const check = (node: Pair['nodes'][number]) =>
    node.direct.call('POST', `/registrations/${id}/verify`, {
      body: { confirmCode: '123456', clientToken: 'another browser' },
      headers,
    })
  for (let n = 0; n < 20; n++) {
    expect((await check(strict.nodes[n % 2 ? 1 : 0])).body.code).toBe('OPERATION_EXPIRED')
  }
  for (const node of strict.nodes) {
    const start = { email: 'late@example.org', clientToken: 'one browser', device: DEVICE }
    const refused = await node.direct.call('POST', '/registrations', { body: start, headers })
    expect(statuses([refused, await check(node)])).toEqual([429])
  }
})

function startFor({ call }: Pair, email: string, headers = {}): Promise<TestAnswer> {
  const body = { email, clientToken: 'one browser', device: DEVICE }
  return call('POST', '/registrations', { body, headers })
}

async function jobsLeft({ db }: Pair): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::int AS count
    FROM graphile_worker.jobs WHERE task_identifier = 'send-code'`.execute(db)
  return rows[0]?.count ?? -1
}

function times<T>(count: number, task: () => Promise<T>): (() => Promise<T>)[] {
  return Array.from({ length: count }, () => task)
}

function statuses(answers: TestAnswer[]): number[] {
  return [...new Set(answers.map(({ status }) => status))].sort()
}
