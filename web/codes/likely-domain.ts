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

/** Other real hosts. Most differ from a host above by a letter or two. */
const OTHERS = new Set(
  'ya.ru bk.ru vk.com mail.com email.com ymail.com gmx.com mail.ua mail.bg mail.ee mai.ru live.ru inbox.lv inbox.com yandex.by yandex.kz yandex.ua myrambler.ru hotmail.fr'.split(
    ' ',
  ),
)

const DISTANCE_MAX = 2
/** Up to this length, many real hosts differ in two letters, so only one may differ. */
const SHORT = 7

/** Returns the host that an address may mean; undefined if its host is known or unlike any. */
export function likelyDomain(email: string): string | undefined {
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
  if (HOSTS.includes(domain) || OTHERS.has(domain)) return undefined
  const near = HOSTS.map((host) => ({ host, away: distance(domain, host) }))
    .filter(({ host, away }) => away <= (host.length > SHORT ? DISTANCE_MAX : 1))
    .sort((one, other) => one.away - other.away)
  return near[0]?.host
}

/** Counts letters to add, remove, replace or swap with a neighbour (Damerau–Levenshtein). */
function distance(one: string, other: string): number {
  let [before, last]: number[][] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1]
      const isSwapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      row[j] = Math.min(
        (last?.[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last?.[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before?.[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    ;[before, last] = [last, row]
  }
  return last?.[other.length] ?? 0
}
