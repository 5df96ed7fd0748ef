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

/** Up to this length, many real hosts differ in two letters, so only one may differ. */
const SHORT = 7

/** Returns the host that an address may mean; undefined if its host is known or unlike any. */
export function likelyDomain(email: string): string | undefined {
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
  if (HOSTS.includes(domain) || OTHERS.has(domain)) return undefined
  return (
    HOSTS.find((host) => areNear(domain, host, 1)) ??
    HOSTS.find((host) => host.length > SHORT && areNear(domain, host, 2))
  )
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
