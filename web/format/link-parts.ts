/**
 * A part of a post's text: plain, or a link. `text` is what to show: for a link the address as written, unless its host
 * could be mistaken for another.
 */
export type TextPart = { kind: 'text'; text: string } | { kind: 'link'; text: string; href: string }

const ADDRESS = /(?<![\p{L}\p{N}_])https?:\/\/[^\s<>"«»“”„`]+/giu
const PUNCTUATION_AT_END = /[.,:;!?…'’*_~|\\-]$/u
/** The scheme, with everything that a browser accepts as its slashes, and the host. */
const SCHEME_AND_HOST = /^(https?:[/\\]+)([^/\\?#]*)/i
const PORT = /:\d+$/
/** A label of a host in one alphabet. Cyrillic letters that are not Russian, such as ӏ and ѕ, imitate Latin ones. */
const ONE_ALPHABET = /^(?:[a-z0-9-]+|[а-яё0-9-]+)$/
const RUSSIAN_DOMAINS = new Set(['рф', 'рус', 'дети', 'москва', 'сайт', 'онлайн', 'орг', 'бел'])
const OPENING: Record<string, string> = { ')': '(', ']': '[', '}': '{' }

/** Splits text into plain parts and http(s) links; everything else, javascript: included, stays text. */
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

/** Removes what belongs to the sentence: closing punctuation, and a bracket that was opened outside the address. */
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

/** The address as the browser parses it; undefined if it is invalid or hides its host behind a login. */
function safeUrl(address: string): URL | undefined {
  const url = parseUrl(address)
  if (!url || url.username || url.password) return undefined
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined
}

/**
 * The address with the ASCII form of its host, since letters of another alphabet can imitate Latin ones. A Russian domain
 * is left as written if none of its labels mixes alphabets.
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

/** Not URL.parse(), which some of the supported browsers lack. */
function parseUrl(address: string): URL | undefined {
  try {
    return new URL(address)
  } catch {
    return undefined
  }
}
