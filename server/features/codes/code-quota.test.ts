import { expect, test } from 'vitest'
import { CODE_ATTEMPTS, CODE_LENGTH } from '../../../contract/constants.ts'
import type { KnownBy } from '../../kernel/db/tables.ts'
import { limitsInMemory } from '../../testing/limits-in-memory.ts'
import { countTriesLeft, mailCharges, wrongCodeCharge } from './code-quota.ts'

const MINUTE = 60
const HOUR = 3600
const DAY = 86_400

/**
 * One mailbox that strangers from several networks ask about, on a clock that the test sets. It
 * knows the networks that were mailed as `mailed-networks.test.ts` shows it of the database.
 */
function openMailbox() {
  let time = 0
  const limits = limitsInMemory(() => time)
  const sent: number[] = []
  const wrong: number[] = []
  const mailed = new Map<string, number>()
  const email = 'olga@example.org'
  const clientHash = Buffer.from('browser')
  const db = undefined as never

  /** Returns the seconds to wait, 0 when it was counted. */
  async function countAt(now: number, counted: number[], charge: () => Promise<unknown>) {
    time = now
    const refusal = await charge().then(
      () => undefined,
      (error: { retryAfter: number }) => error,
    )
    if (!refusal) counted.push(now)
    return refusal?.retryAfter ?? 0
  }

  return {
    sent,
    wrong,
    /** Checks a wrong code at a second, as the nth try of an operation. */
    guess: (now: number, n: number, knownBy: KnownBy = null) =>
      countAt(now, wrong, () => limits.charge([wrongCodeCharge({ email, knownBy }, n)])),
    triesLeft: (attempts: number) => countTriesLeft(limits, { email, knownBy: null, attempts }, db),
    /** A right code refunds its last mail, and its network no longer counts as mailed. */
    async verify(ip: string) {
      mailed.delete(ip)
      await limits.refund(mailCharges({ email, ip, clientHash, knownBy: null }))
    },
    /** Asks for a mail at a second. */
    request: (ip: string, now: number, knownBy: KnownBy = null) =>
      countAt(now, sent, async () => {
        const wasMailed = now - (mailed.get(ip) ?? Number.NEGATIVE_INFINITY) < 30 * DAY
        await limits.charge(mailCharges({ email, ip, clientHash, knownBy }, { wasMailed }))
        if (!wasMailed && knownBy !== 'browser') mailed.set(ip, now)
      }),
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

/**
 * For sixty days one network asks for what mailed networks get, and each other one in turn as soon
 * as it is due. The owner tries every ten minutes, with a right code. Returns the longest wait.
 */
async function longestWait(networks: number): Promise<number> {
  const mailbox = openMailbox()
  let [asked, since, longest] = [0, 0, 0]
  for (let now = 0; now < 60 * DAY; now += 10 * MINUTE) {
    await mailbox.request(stranger(0), now)
    if ((await mailbox.request(stranger(1 + (asked % networks)), now + 60)) === 0) asked += 1
    if ((await mailbox.request(OWNER, now + 120)) === 0) {
      await mailbox.verify(OWNER)
      since = now
    }
    longest = Math.max(longest, now - since)
  }
  return longest
}

test.each([
  [16, 8 * HOUR],
  [28, 34 * HOUR],
  [48, 74 * HOUR],
  [360, 700 * HOUR],
])(
  'strangers with %i networks, each of which counts as new once in 30 days, keep the owner’s new browser in a new network out for at most %i s',
  async (networks, most) => {
    expect(await longestWait(networks)).toBeLessThanOrEqual(most)
  },
)

test('a network from which a right code was entered does not count as one that was mailed', async () => {
  const mailbox = openMailbox()
  expect(await mailbox.request(OWNER, 0)).toBe(0)
  await mailbox.verify(OWNER)
  const strangersAsk = async (now: number) => {
    for (let n = 0; n < 9; n++) await mailbox.request(stranger(0), now + n * MINUTE)
  }
  await strangersAsk(DAY)
  expect(await mailbox.request(OWNER, DAY + 10 * MINUTE)).toBe(0)
  // Without a right code it has become one of the others.
  await strangersAsk(2 * DAY)
  expect(await mailbox.request(OWNER, 2 * DAY + 10 * MINUTE)).toBeGreaterThan(0)
})

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

// Strangers ask for a code every five minutes during nine days, and try each code five times, also
// from the owner's browser and network.
test.each([1, 20, 100_000])(
  'from %i networks, and from the owner’s own browser and network, strangers guess 40 codes a day and 152 more, and into an account in a year with 1.47 percent at most; every mailed code may still be tried twice',
  async (networks) => {
    const mailbox = openMailbox()
    const waits: number[][] = []
    for (let minute = 0; minute < 9 * 24 * 60; minute += 5) {
      const network = stranger((minute / 5) % networks)
      const isMailed = (await mailbox.request(network, minute * MINUTE)) === 0
      const tries: number[] = []
      for (let n = 1; n <= CODE_ATTEMPTS; n++) {
        const now = minute * MINUTE + n
        if (isMailed) tries.push(await mailbox.guess(now, n))
        for (const known of ['browser', 'network'] as const) await mailbox.guess(now, n, known)
      }
      if (isMailed) waits.push(tries)
    }
    expect(mailbox.wrong.length).toBeLessThanOrEqual(152 + 9 * 40)
    expect(mailbox.wrong.length).toBeGreaterThan(9 * 40)
    const chance = 1 - (1 - 10 ** -CODE_LENGTH) ** (152 + 40 * 366)
    expect(chance).toBeLessThanOrEqual(0.0147)
    expect(waits.filter(([first, second]) => first !== 0 || second !== 0)).toEqual([])
    expect(waits.some(([, , third]) => third !== 0)).toBe(true)
    const now = 9 * DAY
    for (const n of [1, 2]) {
      expect(await mailbox.guess(now, n)).toBe(0)
      expect(await mailbox.triesLeft(n)).toBe(2 - n)
    }
    expect(await mailbox.guess(now, 3)).toBeLessThanOrEqual(36 * HOUR)
  },
)

test('a code has its five tries after strangers have used up six', async () => {
  const mailbox = openMailbox()
  for (let code = 0; code < 6; code++) {
    for (let n = 1; n <= CODE_ATTEMPTS; n++) await mailbox.guess(0, n)
  }
  for (let n = 1; n <= CODE_ATTEMPTS; n++) {
    expect(await mailbox.guess(0, n)).toBe(0)
    expect(await mailbox.triesLeft(n)).toBe(CODE_ATTEMPTS - n)
  }
})
