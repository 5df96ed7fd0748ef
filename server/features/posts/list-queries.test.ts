import { expect, test } from 'vitest'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { appForFile } from '../../testing/test-app.ts'

const app = await appForFile()
const olga = await app.signUp()

test.each([
  'limit=1e6',
  'limit=51',
  'limit=0',
  'limit=-1',
  'limit=2.5',
  'limit=',
  'limit=ten',
  'limit=0x10',
  'limit=%2010',
  'limit=NaN',
  'limit=Infinity',
  'page=0',
  'page=-1',
  'page=1.5',
  'page=',
  'page=2147483648',
  'page=1e400',
  'limit=5&limit=6',
  'page=1&page=1',
  'cursor=',
  'cursor=garbage',
  'cursor=-1',
  'cursor=1.5',
  `cursor=${'9'.repeat(19)}`,
  'cursor=%00',
  "cursor=1'--",
  'cursor=1&cursor=2',
  'page=1&cursor=5',
  'filter=mine',
  'filter=',
  'filter=liked&filter=all',
  'userId=',
  'userId=%00',
  'unknown=1',
  '__proto__=1',
])('a list refuses ?%s as INVALID_REQUEST', async (query) => {
  expectRefusal(await app.call('GET', `/posts?${query}`, { token: olga.token }), 'INVALID_REQUEST')
})

test.each(['/posts/replies', '/posts/1/replies'])(
  '%s refuses the same, and what is the wall’s alone',
  async (path) => {
    await app.publish(olga)
    for (const query of [
      'limit=51',
      'page=0',
      'cursor=x',
      'page=1&cursor=5',
      'filter=all',
      ...(path === '/posts/replies' ? [] : ['userId=1']),
    ]) {
      const refused = await app.call('GET', `${path}?${query}`, { token: olga.token })
      expectRefusal(refused, 'INVALID_REQUEST')
    }
  },
)

test('a limit of 1 and of 50, and a page written as 1e0, are accepted', async () => {
  for (const query of ['limit=1', 'limit=50', 'page=1e0', 'limit=5.0', 'cursor=1']) {
    expect((await app.call('GET', `/posts?${query}`)).status).toBe(200)
  }
})
