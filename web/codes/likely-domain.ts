/** Mail hosts that people mistype, the most likely first. */
const HOSTS = [
  'gmail.com',
  'yandex.ru',
  'mail.ru',
  'inbox.ru',
  'list.ru',
  'internet.ru',
  'rambler.ru',
  'yahoo.com',
  'outlook.com',
  'hotmail.com',
  'icloud.com',
  'yandex.com',
]

/** Other real hosts that resemble one above. */
const OTHERS = new Set(
  'ya.ru bk.ru vk.com mail.com gmx.com mai.ru mil.ru live.ru inbox.com myrambler.ru cloud.ru'.split(
    ' ',
  ),
)

/** The name of a host that exists under no other top-level domain. */
const GMAIL = 'gmail'

/** In a name of this length or longer, two letters may differ: many real names are shorter. */
const LONG = 6

/**
 * Returns the host that an address may mean; undefined if its host is known, unlike any, or as
 * like one name as another. `fmail.ru` may mean gmail.com or mail.ru.
 */
export function likelyDomain(email: string): string | undefined {
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
  if (HOSTS.includes(domain) || OTHERS.has(domain)) return undefined
  const [name, ending] = split(domain)
  for (const changes of [0, 1, 2]) {
    const near = HOSTS.filter((host) => {
      const hostName = split(host)[0]
      return (changes < 2 || hostName.length >= LONG) && areNear(name, hostName, changes)
    })
    if (near.length === 0) continue
    if (new Set(near.map((host) => split(host)[0])).size > 1) return undefined
    return near.find((host) => mayMean(ending, split(host)))
  }
  return undefined
}

function split(domain: string): [name: string, ending: string] {
  const dot = domain.lastIndexOf('.')
  return [domain.slice(0, dot), domain.slice(dot + 1)]
}

/** A country's ending is probably meant: yahoo.fr, outlook.de and rambler.ua are real. */
function mayMean(ending: string, [hostName, hostEnding]: [string, string]): boolean {
  if (hostName === GMAIL || ending === hostEnding) return true
  return !isCountry(ending) && areNear(ending, hostEnding, 1)
}

function isCountry(ending: string): boolean {
  if (!/^[a-z]{2}$/.test(ending)) return false
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  return names.of(ending.toUpperCase()) !== undefined
}

/** Returns whether adding, removing, replacing or swapping this many letters makes both equal. */
function areNear(one: string, other: string, changes: number): boolean {
  if (one === other || changes === 0) return one === other
  let at = 0
  while (one[at] === other[at]) at++
  const after = (skipped: number, otherSkipped: number) =>
    areNear(one.slice(at + skipped), other.slice(at + otherSkipped), changes - 1)
  const isSwapped = one[at] === other[at + 1] && one[at + 1] === other[at]
  return after(1, 1) || after(1, 0) || after(0, 1) || (isSwapped && after(2, 2))
}
