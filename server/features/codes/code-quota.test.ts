import { expect, test } from 'vitest'
import { CODE_ATTEMPTS, CODE_LENGTH } from '../../../contract/constants.ts'
import { limitsInMemory } from '../../testing/limits-in-memory.ts'
import { chargeGuess, chargeMail, type KnownBy, mailCharges } from './code-quota.ts'

const MINUTE = 60
const HOUR = 3600
const DAY = 86_400

/** One mailbox that strangers from several networks ask about, on a clock that the test sets. */
function openMailbox() {
  let time = 0
  const limits = limitsInMemory(() => time)
  const sent: number[] = []
  const wrong: number[] = []
  const email = 'olga@example.org'
  const clientHash = Buffer.from('browser')

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
    guess: (ip: string, now: number, isKnownClient = false) =>
      countAt(now, () => chargeGuess(limits, { email, ip, isKnownClient }), wrong),
    /** Checks the right code at a second. */
    check: (ip: string, now: number) =>
      countAt(
        now,
        async () => limits.refund(await chargeGuess(limits, { email, ip, isKnownClient: false })),
        [],
      ),
    /** Asks for a mail at a second. */
    request: (ip: string, now: number, knownBy: KnownBy = null) =>
      countAt(
        now,
        () => chargeMail(limits, { email, ip, clientHash, knownBy }, undefined as never),
        sent,
      ),
    /** Enters the code of the last mail. */
    verify: (ip: string) => limits.refund(mailCharges({ email, ip, clientHash, knownBy: null })),
  }
}

const stranger = (n: number) => `198.51.${n >> 8}.${n & 255}`
const OWNER = '192.0.2.1'

function mostWithin(times: number[], seconds: number): number {
  return Math.max(...times.map((t) => times.filter((at) => at >= t && at < t + seconds).length))
}

/**
 * The worst that strangers can do: one network asks all day and the others from the moment at which
 * the owner asks, each time before the owner. Returns the owner's wait.
 */
async function ownersWait(networks: number, arrival: number): Promise<number> {
  const mailbox = openMailbox()
  for (let minute = 0; minute < arrival; minute++)
    await mailbox.request(stranger(0), minute * MINUTE)
  for (let minute = arrival; minute < arrival + 1500; minute++) {
    const now = minute * MINUTE
    for (let n = 0; n < networks; n++) await mailbox.request(stranger(n), now)
    if ((await mailbox.request(OWNER, now + 1)) === 0) return now - arrival * MINUTE
  }
  return Number.POSITIVE_INFINITY
}

test.each([
  [1, 4 * MINUTE],
  [2, 30 * MINUTE],
  [3, HOUR],
  [10, 4.5 * HOUR],
])(
  'strangers in %i networks delay the owner’s new browser in a new network by at most %i s',
  async (networks, most) => {
    const arrivals = [0, 1, 5, 60, 200, 375, 1439, 1440, 1500, 4000]
    const waits = await Promise.all(arrivals.map((arrival) => ownersWait(networks, arrival)))
    expect(waits.filter((wait) => wait > most)).toEqual([])
  },
)

test.each([1, 20, 1000])(
  'a mailbox gets a mail a minute, six in any hour and 30 in any day, whoever asks: %i networks',
  async (networks) => {
    const mailbox = openMailbox()
    for (let minute = 0; minute < 4 * 24 * 60; minute++) {
      await mailbox.request(stranger(minute % networks), minute * MINUTE)
    }
    expect(mostWithin(mailbox.sent, MINUTE)).toBe(1)
    expect(mostWithin(mailbox.sent, HOUR)).toBeLessThanOrEqual(6)
    expect(mostWithin(mailbox.sent, DAY)).toBeLessThanOrEqual(30)
    if (networks === 1) expect(mostWithin(mailbox.sent, HOUR)).toBe(5)
  },
)

test('one network gets four mails a minute apart, and leaves the fifth to others', async () => {
  const mailbox = openMailbox()
  for (let minute = 0; minute < 4; minute++) {
    expect(await mailbox.request(OWNER, minute * MINUTE)).toBe(0)
    expect(await mailbox.request(OWNER, minute * MINUTE + 20)).toBeGreaterThanOrEqual(40)
  }
  expect(await mailbox.request(OWNER, 240)).toBe(30 * MINUTE - 240)
  expect(await mailbox.request(stranger(1), 240)).toBe(0)
  expect(await mailbox.request(stranger(2), 300)).toBe(30 * MINUTE - 300)
})

test('a verified code gives its mail back', async () => {
  const mailbox = openMailbox()
  for (let time = 0; time < 20; time++) {
    expect(await mailbox.request(OWNER, time)).toBe(0)
    await mailbox.verify(OWNER)
  }
})

test('known browsers and networks have mails of their own, six in any hour', async () => {
  for (const knownBy of ['browser', 'network'] as const) {
    const mailbox = openMailbox()
    for (let minute = 0; minute < 90; minute++) {
      for (let n = 0; n < 9; n++) await mailbox.request(stranger(n), minute * MINUTE)
    }
    mailbox.sent.length = 0
    for (let minute = 90; minute < 600; minute++) {
      await mailbox.request(OWNER, minute * MINUTE, knownBy)
    }
    expect(mailbox.sent.slice(0, 5)).toEqual([90, 91, 92, 93, 94].map((at) => at * MINUTE))
    expect(mostWithin(mailbox.sent, HOUR)).toBeLessThanOrEqual(6)
  }
})

/**
 * A stranger who asks for a code every five minutes for so many days, and tries five with each, and
 * five more from the owner's browser.
 */
async function guessAllDays(days: number, networkAt: (minute: number) => number, known = false) {
  const mailbox = openMailbox()
  for (let minute = 0; minute < days * 24 * 60; minute += 5) {
    const network = stranger(networkAt(minute))
    await mailbox.request(network, minute * MINUTE)
    for (let code = 1; code <= CODE_ATTEMPTS; code++) {
      await mailbox.guess(network, minute * MINUTE + code)
      if (known) await mailbox.guess(network, minute * MINUTE + code, true)
    }
  }
  return mailbox
}

test.each([1, 20, 100_000])(
  'from %i networks and from the owner’s own browser a stranger guesses 30 codes a day, 60 on the first, and into an account in a year with 1.1 percent at most',
  async (networks) => {
    const { wrong } = await guessAllDays(5, (minute) => (minute / 5) % networks, true)
    expect(mostWithin(wrong, DAY)).toBeLessThanOrEqual(60)
    expect(wrong.length).toBeLessThanOrEqual(30 + 5 * 30)
    const chance = 1 - (1 - 10 ** -CODE_LENGTH) ** (30 + 30 * 366)
    expect(chance).toBeLessThanOrEqual(0.011_01)
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
