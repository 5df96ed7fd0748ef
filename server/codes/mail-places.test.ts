import { expect, test } from 'vitest'
import { CODE_ATTEMPTS, CODE_LENGTH } from '../../contract/constants.ts'
import { type NetworkRequests, secondsUntilGuess, secondsUntilMail } from './mail-places.ts'

const MINUTE = 60
const HOUR = 3600
const DAY = 86_400

type Row = { askedAt: number; lastAt: number; mailedAt: number[]; wrongAt: number[] }

/** One mailbox that networks request mails for at given seconds, with the rows that the database would store. */
function openMailbox() {
  const rows = new Map<string, Row>()
  const sent: number[] = []
  const wrong: number[] = []

  /** The rows at a second, as the rules want them, and that of a network to be changed. */
  function rowsAt(now: number, network: string) {
    const since = now - DAY
    for (const [name, row] of rows) {
      row.mailedAt = row.mailedAt.filter((at) => at > since)
      row.wrongAt = row.wrongAt.filter((at) => at > since)
      if (row.lastAt <= since) rows.delete(name)
    }
    const agoOf = ({ askedAt, mailedAt, wrongAt }: Row): NetworkRequests => ({
      askedAgo: now - askedAt,
      mailedAgo: mailedAt.map((at) => now - at),
      wrongAgo: wrongAt.map((at) => now - at),
    })
    const own = rows.get(network)
    const others = [...rows.values()].filter((row) => row !== own).map(agoOf)
    return { own, ownAgo: own && agoOf(own), others }
  }

  return {
    sent,
    wrong,
    /** Checks a wrong code at a second. Returns the seconds to wait, 0 when it was compared. */
    guess(network: string, now: number): number {
      const { own, ownAgo, others } = rowsAt(now, network)
      const wait = secondsUntilGuess(ownAgo, others, 1)
      if (wait > 0) return wait
      const row = own ?? { askedAt: 0, lastAt: now, mailedAt: [], wrongAt: [] }
      row.lastAt = now
      row.wrongAt.push(now)
      rows.set(network, row)
      wrong.push(now)
      return 0
    },
    /** Requests a mail at a second. Returns the seconds to wait, 0 when a mail was sent. */
    request(network: string, now: number): number {
      const { own, ownAgo, others } = rowsAt(now, network)
      const wait = secondsUntilMail(ownAgo, others, 1)
      const row = own ?? { askedAt: now, lastAt: now, mailedAt: [], wrongAt: [] }
      row.lastAt = now
      rows.set(network, row)
      if (wait === 0) {
        row.mailedAt.push(now)
        sent.push(now)
      }
      return wait
    },
  }
}

function mostWithin(times: number[], seconds: number): number {
  return Math.max(...times.map((t) => times.filter((at) => at >= t && at < t + seconds).length))
}

/**
 * Strangers from so many networks request a mail every minute, and so does the owner from some minute on. Returns the
 * owner's wait.
 */
function ownersWait(networks: number, arrival: number): number {
  const mailbox = openMailbox()
  for (let minute = 0; minute <= arrival + 120; minute++) {
    for (let n = 0; n < networks; n++) mailbox.request(`stranger ${n}`, minute * MINUTE)
    if (minute >= arrival && mailbox.request('the owner', minute * MINUTE + 1) === 0) {
      return (minute - arrival) * MINUTE
    }
  }
  return Number.POSITIVE_INFINITY
}

/** The same, but the owner tries again only after Retry-After, and the strangers request a mail every ten seconds. */
function obedientOwnersWait(networks: number, arrival: number): number {
  const mailbox = openMailbox()
  let due = arrival * MINUTE
  for (let second = 0; second <= (arrival + 120) * MINUTE; second += 10) {
    for (let n = 0; n < networks; n++) mailbox.request(`stranger ${n}`, second)
    if (second < due) continue
    const wait = mailbox.request('the owner', second + 1)
    if (wait === 0) return second - arrival * MINUTE
    due = second + wait
  }
  return Number.POSITIVE_INFINITY
}

const ARRIVALS = [0, 1, 4, 59, 90, 200, 375, 700, 1440, 1500]

test.each([1, 2, 3, 7, 20])(
  'strangers who request mails all day from %i networks delay the owner by at most an hour',
  (networks) => {
    const waits = ARRIVALS.map((arrival) => ownersWait(networks, arrival))
    expect(waits.filter((wait) => wait > HOUR)).toEqual([])
  },
)

test('an owner who tries again after Retry-After gets a mail, whoever requests one in between', () => {
  const waits = ARRIVALS.slice(0, 7).map((arrival) => obedientOwnersWait(20, arrival))
  expect(waits.filter((wait) => wait > HOUR + MINUTE)).toEqual([])
})

test.each([1, 20, 60])(
  'a mailbox gets a mail a minute, 3 an hour and 30 a day, requested from %i networks',
  (networks) => {
    const mailbox = openMailbox()
    for (let minute = 0; minute < 2 * 24 * 60; minute += networks > 1 ? 5 : 1) {
      for (let n = 0; n < networks; n++) mailbox.request(`stranger ${n}`, minute * MINUTE + n)
    }
    expect(mostWithin(mailbox.sent, MINUTE)).toBe(1)
    expect(mostWithin(mailbox.sent, HOUR)).toBe(3)
    const day = { 1: 7, 20: 28, 60: 30 }[networks]
    expect(mostWithin(mailbox.sent, DAY)).toBe(day)
  },
)

test('one network gets 3 mails an hour, and then the seconds until the next', () => {
  const mailbox = openMailbox()
  expect(mailbox.request('home', 0)).toBe(0)
  expect(mailbox.request('home', 20)).toBe(40)
  expect(mailbox.request('home', 60)).toBe(0)
  expect(mailbox.request('home', 120)).toBe(0)
  expect(mailbox.request('home', 180)).toBe(HOUR - 120)
  expect(mailbox.request('home', HOUR + 60)).toBe(0)
})

test('delaying a waiting person by one more hour takes three networks that made no request before', () => {
  const mailbox = openMailbox()
  for (const minute of [0, 1, 2]) mailbox.request(`a${minute}`, minute * MINUTE)
  expect(mailbox.request('the owner', 10 * MINUTE)).toBe(50 * MINUTE)
  for (const name of ['b1', 'b2']) mailbox.request(name, 59 * MINUTE)
  expect(mailbox.request('the owner', 62 * MINUTE)).toBe(0)

  const worse = openMailbox()
  for (const minute of [0, 1, 2]) worse.request(`a${minute}`, minute * MINUTE)
  worse.request('the owner', 10 * MINUTE)
  for (const name of ['b1', 'b2', 'b3']) worse.request(name, 59 * MINUTE)
  expect(worse.request('the owner', 62 * MINUTE)).toBeGreaterThan(0)
})

/** A stranger who asks for a mail every five minutes for so many days, and tries five codes with each. */
function guessAllDays(days: number, networkOf: (minute: number) => string) {
  const mailbox = openMailbox()
  for (let minute = 0; minute < days * 24 * 60; minute += 5) {
    const network = networkOf(minute)
    if (mailbox.request(network, minute * MINUTE) > 0) continue
    for (let code = 1; code <= CODE_ATTEMPTS; code++) mailbox.guess(network, minute * MINUTE + code)
  }
  return mailbox
}

test.each<[string, number, (minute: number) => string]>([
  ['one network', 20, () => 'home'],
  ['twenty networks', 39, (minute) => `n${(minute / 5) % 20}`],
  ['networks without number', 40, (minute) => `n${minute}`],
])(
  'with %s a stranger guesses %i codes a day at most, and into an account in a year with 1.5 %% at most',
  (_name, aDay, networkOf) => {
    expect(mostWithin(guessAllDays(5, networkOf).wrong, DAY)).toBeLessThanOrEqual(aDay)
    const chance = 1 - (1 - 10 ** -CODE_LENGTH) ** (aDay * 366)
    expect(chance).toBeLessThanOrEqual(0.015)
  },
)

test('an owner whose network was mailed checks a code, whatever strangers from twenty networks have guessed', () => {
  const mailbox = guessAllDays(2, (minute) => `n${(minute / 5) % 20}`)
  const now = 2 * DAY + HOUR
  expect(mailbox.guess('the owner', now)).toBeGreaterThan(0)
  expect(mailbox.request('the owner', now)).toBe(0)
  expect(mailbox.guess('the owner', now)).toBe(0)
})
