import { expect, test } from 'vitest'
import { createGcraLimit } from './gcra.ts'

/** A limit on a clock that the test moves; `passes` returns true, or the seconds to wait. */
function limitAt(options: { seconds: number; burst: number }) {
  let ms = 1_000_000
  const limit = createGcraLimit(options, () => ms)
  return {
    wait: (seconds: number) => {
      ms += seconds * 1000
    },
    passes: (key = 'olga') =>
      limit.charge(key).then(
        () => true,
        ({ retryAfter }) => retryAfter as number,
      ),
  }
}

test('five pass at once, the sixth waits five seconds, and each five seconds let one more pass', async () => {
  const { wait, passes } = limitAt({ seconds: 5, burst: 5 })
  for (let event = 0; event < 5; event++) expect(await passes()).toBe(true)
  expect(await passes()).toBe(5)
  wait(4)
  expect(await passes()).toBe(1)
  wait(1)
  expect(await passes()).toBe(true)
  expect(await passes()).toBe(5)
})

test('in a minute of trying, the burst and one in five seconds pass', async () => {
  const { wait, passes } = limitAt({ seconds: 5, burst: 5 })
  let passed = 0
  for (let second = 0; second < 60; second++) {
    if ((await passes()) === true) passed++
    wait(1)
  }
  expect(passed).toBe(5 + 11)
})

test('each key is counted on its own, and may burst again after a pause', async () => {
  const { wait, passes } = limitAt({ seconds: 5, burst: 2 })
  expect([await passes(), await passes(), await passes()]).toEqual([true, true, 5])
  expect(await passes('petr')).toBe(true)
  wait(10)
  expect([await passes(), await passes(), await passes()]).toEqual([true, true, 5])
})

test('the first event passes at any fraction of a millisecond', async () => {
  let time = 0
  const limit = createGcraLimit({ seconds: 60, burst: 1 }, () => time)
  for (let key = 0; key < 1000; key++) {
    time = 1234.5678 * key + key / 7
    await limit.charge(`user ${key}`)
    await expect(limit.charge(`user ${key}`)).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' })
  }
})
