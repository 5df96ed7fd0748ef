import { expect } from 'vitest'
import { appForFile, appForTest, testPerNode } from '../../testing/test-app.ts'

const test = testPerNode('responses that each node caches for itself')

const app = await appForFile()
const olga = await app.signUp()
const SPENT = '192.0.2.1'

/** A wall on which everybody may read once, and a reader of it. */
async function wallWithOneRead() {
  const wall = await appForTest({
    databaseUrl: app.databaseUrl,
    config: { rateLimitScale: 1 / 3000, trustProxy: ['127.0.0.1'] },
  })
  const read = async (path: string, ip: string, token?: string) => {
    const from = wall.logged.length
    const headers = { 'x-forwarded-for': ip, ...(token && { authorization: `Bearer ${token}` }) }
    const answer = await fetch(wall.url + path, { headers })
    const body = await answer.text()
    const findLine = () => wall.logged.slice(from).find((line) => line.includes('"status":429'))
    if (answer.status === 429) await expect.poll(findLine).toBeDefined()
    const { date: _, ...sent } = Object.fromEntries(answer.headers)
    return { status: answer.status, sent, body, line: findLine() }
  }
  return { wall, read }
}

const withoutTimes = (text = '') =>
  text.replace(/\d+:\d+|"(?:time|reqId|ms|dbMs)":(?:"[^"]*"|[\d.]+),?/g, '')

test.for([
  ['an endpoint', '/api/v1/posts/:id', false],
  ['an endpoint, signed in', '/api/v1/posts/:id', true],
  ['a feed', '/posts/:id/replies.atom', false],
  ['a page', '/posts/:id', false],
] as const)(
  'a read of %s that a limit refuses has the same answer and log line, whether the cache has its answer or not',
  async ([, pattern, isUsers]) => {
    const { read } = await wallWithOneRead()
    const [spent, other] = [await app.signUp(), await app.signUp()]
    const [token, othersToken] = isUsers ? [spent.token, other.token] : []
    const [first, second] = [await app.publish(olga), await app.publish(olga)]
    const pathOf = ({ id }: { id: string }) => pattern.replace(':id', id)
    expect((await read('/api/v1/posts', SPENT, token)).status).toBe(200)
    const made = await read(pathOf(first), SPENT, token)
    expect((await read(pathOf(second), '192.0.2.2', othersToken)).status).toBe(200)
    const cached = await read(pathOf(second), SPENT, token)
    for (const { status, sent, body, line } of [made, cached]) {
      expect(status).toBe(429)
      expect(Number(sent['retry-after'])).toBeGreaterThan(0)
      const { 'retry-after': _, ...others } = sent
      const { 'retry-after': __, ...expected } = made.sent
      expect(others).toEqual(expected)
      expect(withoutTimes(body)).toBe(withoutTimes(made.body))
      expect(withoutTimes(line)).toBe(withoutTimes(made.line))
    }
  },
)
