import { expect, test } from 'vitest'
import { PAST_CACHE } from '../../server/testing/client.ts'
import { pairForTest } from './pair.ts'
import { changeAndRead, rolesIn } from './stale-reads.ts'

test('a post published, edited, deleted on one node shows at once to its author on every node and to visitors of that one, and to visitors of the other within a second, 200 times', {
  timeout: 360_000,
}, async () => {
  const pair = await pairForTest()
  const olga = await pair.signUp()
  const { token } = olga
  for (let round = 0; round < 200; round++) {
    const { writer, other } = rolesIn(pair, round)
    const atOnce = [
      { node: other, token, headers: PAST_CACHE },
      { node: writer, token },
      { node: writer },
    ]
    expect(await changeAndRead({ writer, user: olga, readers: atOnce }, round)).toEqual([])
    const later = [{ node: other }]
    const stale = await changeAndRead({ writer, user: olga, readers: later }, round)
    expect(Math.max(0, ...stale.map(({ since }) => since))).toBeLessThanOrEqual(1000)
  }
})
