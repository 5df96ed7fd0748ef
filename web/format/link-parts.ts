/**
 * A stretch of post text: plain, or an address that may be followed. `text` is what to show: a link's is the address as
 * written, but for a host that could pass for another.
 */
export type TextPart = { kind: 'text'; text: string } | { kind: 'link'; text: string; href: string }

const ADDRESS = /(?<![\p{L}\p{N}_])https?:\/\/[^\s<>"«»“”„`]+/giu
const PUNCTUATION_AT_END = /[.,:;!?…'’*_~|\\-]$/u
/** The scheme, with whatever a browser takes for its slashes, and the host. */
const SCHEME_AND_HOST = /^(https?:[/\\]+)([^/\\?#]*)/i
const PORT = /:\d+$/
/** Part of a host in one alphabet. Browsers show Cyrillic letters that are not Russian, such as ӏ and ѕ, only with care. */
const ONE_ALPHABET = /^(?:[a-z0-9-]+|[а-яё0-9-]+)$/
const RUSSIAN_DOMAINS = new Set(['рф', 'рус', 'дети', 'москва', 'сайт', 'онлайн', 'орг', 'бел'])
const OPENING: Record<string, string> = { ')': '(', ']': '[', '}': '{' }

/** Splits text into plain stretches and http(s) addresses; everything else, javascript: included, stays text. */
export function linkParts(text: string): TextPart[] {
  const parts: TextPart[] = []
  let from = 0
  for (const match of text.matchAll(ADDRESS)) {
    const address = trimEnd(match[0])
    const url = safeUrl(address)
    if (!url) continue
    if (match.index > from) parts.push({ kind: 'text', text: text.slice(from, match.index) })
    parts.push({ kind: 'link', text: shownAddress(address, url.host), href: url.href })
    from = match.index + address.length
  }
  if (from < text.length) parts.push({ kind: 'text', text: text.slice(from) })
  return parts
}

/** Drops what belongs to the sentence: closing punctuation, and a bracket that was opened outside the address. */
function trimEnd(address: string): string {
  let end = address
  while (PUNCTUATION_AT_END.test(end) || endsWithStrayBracket(end)) end = end.slice(0, -1)
  return end
}

function endsWithStrayBracket(address: string): boolean {
  const closing = address.at(-1) ?? ''
  const opening = OPENING[closing]
  return opening !== undefined && count(address, closing) > count(address, opening)
}

function count(text: string, mark: string): number {
  return text.split(mark).length - 1
}

/** The address as the browser will read it; none for a broken one or one that hides its host behind a login. */
function safeUrl(address: string): URL | undefined {
  const url = parseUrl(address)
  if (!url || url.username || url.password) return undefined
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined
}

/**
 * The address with the host that the browser will ask, in its ASCII form: letters of another alphabet can pass for Latin
 * ones. Letters stay where the domain itself is Russian, and no part mixes alphabets.
 */
function shownAddress(address: string, host: string): string {
  const [before = '', scheme = '', written = ''] = SCHEME_AND_HOST.exec(address) ?? []
  const lower = written.toLowerCase()
  if (lower === host || isRussian(lower.replace(PORT, ''))) return address
  return scheme + host + address.slice(before.length)
}

function isRussian(host: string): boolean {
  const labels = host.split('.')
  return (
    RUSSIAN_DOMAINS.has(labels.at(-1) ?? '') && labels.every((label) => ONE_ALPHABET.test(label))
  )
}

/** Not URL.parse(): browsers that the build is made for do not have it yet. */
function parseUrl(address: string): URL | undefined {
  try {
    return new URL(address)
  } catch {
    return undefined
  }
}
