/** What one network has had of a mailbox, until it does not ask for a day. Times are seconds ago. */
export type NetworkAsks = {
  /** Its first request. */
  askedAgo: number
  /** Each code mail it has set off since yesterday. */
  mailedAgo: number[]
}

/** How many events of a list fit into so many seconds. */
type Window = { events: number[]; most: number; seconds: number }

const MINUTE = 60
const HOUR = 3600
export const DAY = 86_400

/** Code mails to one mailbox in a minute, an hour and a day, whoever asks for them. */
const MOST = { minute: 1, hour: 3, day: 30 }
/** A network that waits keeps its place for as long as it may have to wait, and so much longer. */
const GRACE = 15 * MINUTE
/** Those of them that are not the asking network's first of the day; in a day fewer for its third and later ones. */
const MOST_REPEATED = { hour: 2, day: 8, dayFromThird: 6 }

/**
 * The seconds until a network may set off a code mail to a mailbox, 0 where it may now; `own` is undefined when it has
 * not asked for a day.
 *
 * Strangers must not keep a person out of their own mailbox's places, and nothing tells them from that person but the
 * network. So a network's first mail of the day goes before all others, which leave a place free in each hour and enough in
 * the day; and of the networks that wait for their first, the one that began to ask last goes first: strangers who
 * already ask are never in the way of somebody who comes, and each further hour costs them three networks more.
 */
export function secondsUntilMail(
  own: NetworkAsks | undefined,
  others: NetworkAsks[],
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

function secondsUntilRoom({ events, most, seconds }: Window, scale: number): number {
  const places = Math.max(1, Math.floor(most * scale))
  const oldestInTheWay = events.toSorted(ascending)[places - 1]
  return oldestInTheWay === undefined ? 0 : Math.max(0, seconds - oldestInTheWay)
}

function ascending(a: number, b: number): number {
  return a - b
}
