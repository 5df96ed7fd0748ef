/** The requests of one network for mails to a mailbox, until it makes none for a day. Times are in seconds before now. */
export type NetworkRequests = {
  /** The first request. */
  askedAgo: number
  /** Each code mail it has caused within the last day. */
  mailedAgo: number[]
  /** Each wrong code for the mailbox within the last day. */
  wrongAgo: number[]
}

/** A limit of `most` events within so many seconds. */
type Window = { events: number[]; most: number; seconds: number }

const MINUTE = 60
const HOUR = 3600
export const DAY = 86_400

/** Code mails to one mailbox in a minute, an hour and a day, whoever asks for them. */
const MOST = { minute: 1, hour: 3, day: 30 }
/** A waiting network loses its place only this long after the longest time it may have to wait. */
const GRACE = 15 * MINUTE
/** Of these, mails that are not a network's first of the day. From a network's third mail on, a day has fewer. */
const MOST_REPEATED = { hour: 2, day: 8, dayFromThird: 6 }

/**
 * Returns the seconds until a network may cause a code mail to a mailbox, 0 when it may now. `own` is undefined when the network
 * has made no request for a day.
 *
 * Strangers must not use up the mails of somebody else's mailbox, and only the network distinguishes them from its owner. So
 * a network's first mail of the day has priority over repeated ones, which leave one place free in each hour and enough in
 * the day. Among the networks that wait for their first mail, the one whose first request is the latest goes first.
 * Strangers who already wait therefore never delay the owner, and each further hour costs them three networks more.
 */
export function secondsUntilMail(
  own: NetworkRequests | undefined,
  others: NetworkRequests[],
  scale: number,
): number {
  const all = own ? [own, ...others] : others
  const mails = all.flatMap(({ mailedAgo }) => mailedAgo)
  const repeated = all.flatMap(({ mailedAgo }) => mailedAgo.toSorted(ascending).slice(0, -1))
  const isFirst = !own || own.mailedAgo.length === 0
  const waiting = others
    .filter(({ mailedAgo }) => mailedAgo.length === 0)
    .filter(({ askedAgo }) => !isFirst || (own && askedAgo < own.askedAgo))
    .map(({ askedAgo }) => askedAgo - GRACE)

  const windows: Window[] = [
    { events: mails, most: MOST.minute, seconds: MINUTE },
    { events: [...mails, ...waiting], most: MOST.hour, seconds: HOUR },
    { events: mails, most: MOST.day, seconds: DAY },
  ]
  if (!isFirst) {
    const { hour, day, dayFromThird } = MOST_REPEATED
    const most = own.mailedAgo.length === 1 ? day : dayFromThird
    windows.push({ events: repeated, most: hour, seconds: HOUR })
    windows.push({ events: repeated, most, seconds: DAY })
  }
  return Math.max(...windows.map((window) => secondsUntilRoom(window, scale)))
}

/** Wrong codes for one mailbox in a day from everybody, and with those from networks that were mailed one. */
const MOST_WRONG = { free: 20, day: 40 }

/**
 * Returns the seconds until a network may check a code for a mailbox, 0 when it may now. After 20 wrong codes a network may be
 * wrong once a day, and only if it has caused a mail itself. Strangers with 20 networks therefore never keep out the owner, and
 * any number of them has 40 guesses a day: 14,600 a year of a million codes are 1.45 %.
 */
export function secondsUntilGuess(
  own: NetworkRequests | undefined,
  others: NetworkRequests[],
  scale: number,
): number {
  const events = [...(own ? [own] : []), ...others].flatMap(({ wrongAgo }) => wrongAgo)
  const isMailed = own !== undefined && own.mailedAgo.length > 0 && own.wrongAgo.length === 0
  const most = isMailed ? MOST_WRONG.day : MOST_WRONG.free
  return secondsUntilRoom({ events, most, seconds: DAY }, scale)
}

function secondsUntilRoom({ events, most, seconds }: Window, scale: number): number {
  const places = Math.max(1, Math.floor(most * scale))
  const oldestInTheWay = events.toSorted(ascending)[places - 1]
  return oldestInTheWay === undefined ? 0 : Math.max(0, seconds - oldestInTheWay)
}

function ascending(a: number, b: number): number {
  return a - b
}
