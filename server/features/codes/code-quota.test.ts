import { expect, test } from 'vitest'
import { CODE_ATTEMPTS, CODE_LENGTH } from '../../../contract/constants.ts'
import { countInMemory } from '../../kernel/limits/gcra.ts'
import { createLimits } from '../../kernel/limits/rate-limits.ts'
import { chargeCodeMail, chargeGuess } from './code-quota.ts'

const MINUTE = 60
const HOUR = 3600
const DAY = 86_400

/** One mailbox that strangers from several networks ask about, on a clock that the test sets. */
function openMailbox() {
  let time = 0
  const limits = createLimits(1, (pace) => countInMemory(pace, () => time))
  const sent: number[] = []
  const wrong: number[] = []
  const email = 'olga@example.org'

  /** Returns the seconds to wait, 0 when it was counted. */
  async function countAt(now: number, charge: () => Promise<unknown>, counted: number[]) {
    time = now
    try {
      await charge()
    } catch (error) {
      return (error as { retryAfter: number }).retryAfter
    }
    counted.push(now)
    return 0
  }

  return {
    sent,
    wrong,
    /** Checks a wrong code at a second. */
    guess: (ip: string, now: number) =>
      countAt(now, () => chargeGuess(limits, { email, ip }), wrong),
    /** Checks the right code at a second. */
    check: (ip: string, now: number) =>
      countAt(now, async () => (await chargeGuess(limits, { email, ip })).refund(), []),
    /** Asks for a mail at a second: for a new code, or for the same again. */
    request: (ip: string, now: number, isMailed = false) =>
      countAt(now, () => chargeCodeMail(limits, { email, ip, isMailed }), sent),
  }
}

const stranger = (n: number) => `198.51.${n >> 8}.${n & 255}`
const OWNER = '192.0.2.1'

function mostWithin(times: number[], seconds: number): number {
  return Math.max(...times.map((t) => times.filter((at) => at >= t && at < t + seconds).length))
}

/**
 * Strangers from so many networks ask for codes all day, and for the same ones again, and so does
 * the owner from some minute on. Returns the owner's wait. /
 */
async function ownersWait(networks: number, arrival: number): Promise<number> {
  const mailbox = openMailbox()
  const mailed = new Set<number>()
  for (let minute = 0; minute <= arrival + 600; minute += minute < arrival ? 5 : 1) {
    const now = minute * MINUTE
    for (let n = 0; n < networks; n++) {
      if ((await mailbox.request(stranger(n), now)) === 0) mailed.add(n)
      if (mailed.has(n)) await mailbox.request(stranger(n), now, true)
    }
    if (minute >= arrival && (await mailbox.request(OWNER, now + 1)) === 0) {
      return now - arrival * MINUTE
    }
  }
  return Number.POSITIVE_INFINITY
}

const ARRIVALS = [0, 5, 60, 200, 375, 1440, 1500]

test.each([
  [1, 1],
  [4, 1],
  [20, 6.5],
])(
  'strangers who ask for mails all day from %i networks delay the owner by at most %s h',
  async (networks, hours) => {
    const waits = await Promise.all(ARRIVALS.map((arrival) => ownersWait(networks, arrival)))
    expect(waits.filter((wait) => wait > hours * HOUR)).toEqual([])
  },
)

test('an owner who tries again after Retry-After gets a mail, whatever strangers from three networks do', async () => {
  for (const arrival of ARRIVALS) {
    const mailbox = openMailbox()
    let due = arrival * MINUTE
    let wait = Number.POSITIVE_INFINITY
    for (let second = 0; wait > 0 && second <= arrival * MINUTE + HOUR; second += 30) {
      for (let n = 0; n < 3; n++) await mailbox.request(stranger(n), second)
      if (second < due) continue
      wait = await mailbox.request(OWNER, second + 1)
      due = second + wait
    }
    expect(wait).toBe(0)
  }
})

test.each([1, 20, 1000])(
  'a mailbox gets a mail a minute, three at once and then one in 20 minutes, and in the long run 30 a day, whoever asks: %i networks',
  async (networks) => {
    const mailbox = openMailbox()
    const days = 4
    for (let minute = 0; minute < days * 24 * 60; minute++) {
      await mailbox.request(stranger(minute % networks), minute * MINUTE)
    }
    expect(mostWithin(mailbox.sent, MINUTE)).toBe(1)
    expect(mostWithin(mailbox.sent, 20 * MINUTE)).toBeLessThanOrEqual(3)
    expect(mostWithin(mailbox.sent, HOUR)).toBeLessThanOrEqual(5)
    expect(mailbox.sent.length).toBeLessThanOrEqual(30 * (days + 1))
    if (networks === 1) expect(mostWithin(mailbox.sent, HOUR)).toBe(1)
  },
)

test('one network gets one code an hour, which is sent again after a minute, and leaves the third mail to others', async () => {
  const mailbox = openMailbox()
  expect(await mailbox.request(OWNER, 0)).toBe(0)
  expect(await mailbox.request(OWNER, 20, true)).toBe(40)
  expect(await mailbox.request(OWNER, 60, true)).toBe(0)
  expect(await mailbox.request(OWNER, 120, true)).toBe(18 * MINUTE)
  expect(await mailbox.request(OWNER, 180)).toBe(HOUR - 180)
  expect(await mailbox.request(stranger(1), 180)).toBe(0)
  expect(await mailbox.request(OWNER, HOUR)).toBe(0)
})

/** A stranger who asks for a code every five minutes for so many days, and tries five with each. */
async function guessAllDays(days: number, networkAt: (minute: number) => number) {
  const mailbox = openMailbox()
  for (let minute = 0; minute < days * 24 * 60; minute += 5) {
    const network = stranger(networkAt(minute))
    await mailbox.request(network, minute * MINUTE)
    for (let code = 1; code <= CODE_ATTEMPTS; code++) {
      await mailbox.guess(network, minute * MINUTE + code)
    }
  }
  return mailbox
}

test.each([1, 20, 100_000])(
  'from %i networks a stranger guesses 40 codes a day at most, and into an account in a year with 1.5 percent at most',
  async (networks) => {
    const { wrong } = await guessAllDays(5, (minute) => (minute / 5) % networks)
    expect(mostWithin(wrong, DAY)).toBeLessThanOrEqual(40)
    expect(wrong.length).toBeLessThanOrEqual(20 + 5 * 20)
    const chance = 1 - (1 - 10 ** -CODE_LENGTH) ** (40 * 366)
    expect(chance).toBeLessThanOrEqual(0.015)
  },
)

test('an owner whose network was mailed checks a code, whatever strangers from nine networks have guessed', async () => {
  const mailbox = await guessAllDays(2, (minute) => (minute / 5) % 9)
  const now = 2 * DAY
  expect(await mailbox.check(OWNER, now)).toBeGreaterThan(0)
  expect(await mailbox.request(OWNER, now)).toBe(0)
  expect(await mailbox.check(OWNER, now)).toBe(0)
  expect(await mailbox.guess(OWNER, now)).toBe(0)
  expect(await mailbox.check(OWNER, now)).toBeGreaterThan(0)
})
