import { expect, test } from 'vitest'
import { createSteadinessCheck } from './clock.ts'

const MINUTE = 60_000
const DAYS = 86_400_000

/** A database's clock that is `ahead`, looked at each minute. */
function lookedAtEachMinute() {
  const clock = { ahead: 0, now: 5_000_000, answerMs: 0 }
  const errors: object[] = []
  const isSteady = createSteadinessCheck({
    async readTime() {
      clock.now += clock.answerMs
      return Date.UTC(2026, 0) + clock.now + clock.ahead
    },
    log: { error: (details: object) => errors.push(details) },
    clock: () => clock.now,
  })
  /** Returns what each look of so many minutes said, the same answers once. */
  async function look(minutes: number): Promise<boolean[]> {
    const answers = new Set<boolean>()
    for (let minute = 0; minute < minutes; minute++) {
      answers.add(await isSteady())
      clock.now += MINUTE
    }
    return [...answers]
  }
  return { clock, look, errors }
}

test('nothing is erased in the first hour after a start', async () => {
  const { look, errors } = lookedAtEachMinute()
  expect(await look(60)).toEqual([false])
  expect(await look(600)).toEqual([true])
  expect(errors).toEqual([])
})

test.each([15 * DAYS, -15 * DAYS, 2 * MINUTE])(
  'a clock that is wrong by %i ms for an hour erases nothing for good, and one that stays wrong is believed',
  async (ahead) => {
    const { clock, look, errors } = lookedAtEachMinute()
    await look(61)
    clock.ahead = ahead
    expect(await look(60)).toEqual([false])
    clock.ahead = 0
    expect(await look(60)).toEqual([false])
    expect(await look(1)).toEqual([true])
    expect(errors).toEqual([{ seconds: ahead / 1000 }, { seconds: -ahead / 1000 }])
    clock.ahead = ahead
    expect(await look(60)).toEqual([false])
    expect(await look(1)).toEqual([true])
  },
)

test('a database that answers late, or a clock that drifts, has not jumped', async () => {
  const { clock, look, errors } = lookedAtEachMinute()
  await look(61)
  clock.answerMs = 11_000
  expect(await look(1)).toEqual([false])
  clock.answerMs = 1000
  for (let hour = 0; hour < 24; hour++) {
    clock.ahead += 1000
    expect(await look(1)).toEqual([true])
  }
  expect(errors).toEqual([])
})
