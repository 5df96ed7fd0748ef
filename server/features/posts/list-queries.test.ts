import { expect, test } from 'vitest'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { appForFile } from '../../testing/test-app.ts'

const app = await appForFile()
const { token } = await app.signUp()

const REFUSED = [
  ...['limit=1e6', 'limit=51', 'limit=0', 'limit=2.5', 'limit=', 'limit=0x10', 'limit=5&limit=6'],
  ...['page=0', 'page=-1', 'page=2147483648', 'page=1e400', 'page=1&cursor=5'],
  ...['cursor=', 'cursor=garbage', 'cursor=-1', `cursor=${'9'.repeat(19)}`, 'cursor=%00'],
  ...["cursor=1'--", 'cursor=1&cursor=2', 'filter=mine', 'userId=%00', 'unknown=1', '__proto__=1'],
]

test.each([
  ['/posts', REFUSED],
  ['/posts/replies', ['limit=51', 'page=0', 'cursor=x', 'page=1&cursor=5', 'filter=all']],
  ['/posts/1/replies', ['limit=51', 'cursor=x', 'filter=all', 'userId=1']],
  ['/posts/1/ancestors', ['limit=0', 'limit=101', 'page=1', 'cursor=5']],
])('%s refuses a query that it does not describe as INVALID_REQUEST', async (path, queries) => {
  for (const query of queries) {
    expectRefusal(await app.call('GET', `${path}?${query}`, { token }), 'INVALID_REQUEST')
  }
})

test('a limit of 1 and of 50, and a page written as 1e0, are accepted', async () => {
  for (const query of ['limit=1', 'limit=50', 'page=1e0', 'limit=5.0', 'cursor=1']) {
    expect((await app.call('GET', `/posts?${query}`)).status).toBe(200)
  }
})
