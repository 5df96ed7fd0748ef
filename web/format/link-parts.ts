import { ADDRESS_OR_NAME } from '../../contract/mention-rules.ts'

/** A part of a text. A link's `text` is its shortened address, and `title` is the whole address. */
export type TextPart =
  | { kind: 'text'; text: string }
  | { kind: 'link'; text: string; title: string; href: string }
  | { kind: 'mention'; text: string; username: string }

type LinkOptions = {
  /** The most characters of an address that are shown. Its host is never cut. */
  length?: number
  /** False leaves out addresses that two URL parsers could understand differently. */
  withUnusual?: boolean
  /** Returns the username of the user mentioned by a name; by default nobody is. */
  namedBy?: (name: string) => string | undefined
}

const SCHEME = /^https?:/i
const PUNCTUATION_AT_END = /[.,:;!?…'’*_~|\\-]$/u
/** Browsers also accept other slashes than `//` between a scheme and a host. */
const SCHEME_AND_HOST = /^https?:[/\\]+([^/\\?#]*)/i
/** Matches addresses that all URL parsers understand alike: ASCII labels, nothing to escape. */
const COMMON_ADDRESS =
  /^https?:\/\/(?:(?!xn--)[a-z0-9][a-z0-9-]*\.)+(?!xn--)[a-z]{2,}(?::\d+)?(?:[/?#][^\\^{|}']*)?$/i
const WWW = /^www\.(?=[^.]+\.[^.])/
const PORT = /:\d+$/
/** Excludes Cyrillic letters that are not Russian, such as ӏ and ѕ, which look like Latin ones. */
const ONE_ALPHABET = /^(?:[a-z0-9-]+|[а-яё0-9-]+)$/
const RUSSIAN_DOMAINS = new Set(['рф', 'рус', 'дети', 'москва', 'сайт', 'онлайн', 'орг', 'бел'])
const OPENING: Record<string, string> = { ')': '(', ']': '[', '}': '{' }

const PIECE = /[^/?#&=.:]+/g
const RUSSIAN_LETTER = /%D0%(?:81|[9AB][\dA-F])|%D1%(?:8[\dA-F]|91)/gi
const PERCENT_ENCODED = /%[\dA-F]{2}/gi
const NOT_ASCII_ENCODED = /%[89A-F][\dA-F]/i
/** Matches Russian letters that look like no Latin letter. */
const UNMISTAKABLE = /[вджзийклмнптфцчшщъыьэюяБГДЖИЙЛПФЦЧШЩЪЫЭЮЯ]/

/** Splits a text into plain text, links, which begin with http(s):// or www., and mentions. */
export function linkParts(text: string, options: LinkOptions = {}): TextPart[] {
  const { length = Number.POSITIVE_INFINITY, withUnusual = true, namedBy } = options
  const parts: TextPart[] = []
  let from = 0
  const add = (part: TextPart, at: number, end: number) => {
    if (at > from) parts.push({ kind: 'text', text: text.slice(from, at) })
    parts.push(part)
    from = end
  }
  for (const { 0: found, index, groups } of text.matchAll(ADDRESS_OR_NAME)) {
    if (groups?.name) {
      const username = namedBy?.(groups.name)
      if (username) add({ kind: 'mention', text: found, username }, index, index + found.length)
      continue
    }
    const written = trimEnd(found)
    const address = SCHEME.test(written) ? written : `https://${written}`
    const url = safeUrl(address)
    if (!url || !(withUnusual || COMMON_ADDRESS.test(address))) continue
    if (address !== written && !WWW.test(url.host)) continue
    const link = { kind: 'link', ...shownAddress(address, url, length), href: url.href } as const
    add(link, index, index + written.length)
  }
  if (from < text.length) parts.push({ kind: 'text', text: text.slice(from) })
  return parts
}

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

/** Parses an address of http or https. Returns undefined if a login hides its host. */
function safeUrl(address: string): URL | undefined {
  // Some of the supported browsers lack URL.parse().
  try {
    const url = new URL(address)
    if (url.username || url.password) return undefined
    return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined
  } catch {
    return undefined
  }
}

function shownAddress(address: string, url: URL, length: number) {
  const host = shownHost(address, url.host)
  const rest = readable(url.href.slice(url.origin.length))
  const start = host.replace(WWW, '')
  return {
    text: cut(start + (rest === '/' ? '' : rest), Math.max(length, start.length + 1)),
    title: `${url.protocol}//${host}${rest}`,
  }
}

/** Returns the host in ASCII, unless it is Russian and no label mixes alphabets. */
function shownHost(address: string, host: string): string {
  const written = SCHEME_AND_HOST.exec(address)?.[1]?.toLowerCase() ?? ''
  return isRussian(written.replace(PORT, '')) ? written : host
}

/** Decodes Russian words; before the query, only if a letter looks like no Latin letter. */
function readable(path: string): string {
  return path.replace(PIECE, (piece, at) => {
    const decoded = piece.replace(RUSSIAN_LETTER, decodeURIComponent)
    const isPlain = !NOT_ASCII_ENCODED.test(decoded)
    const hasLatin = /[a-z]/i.test(decoded.replace(PERCENT_ENCODED, ''))
    const isClear = UNMISTAKABLE.test(decoded) || path.lastIndexOf('?', at) >= 0
    return isPlain && !hasLatin && isClear ? decoded : piece
  })
}

function cut(text: string, length: number): string {
  if (text.length <= length) return text
  return `${text.slice(0, length - 1).replace(/%[\dA-F]?$/i, '')}…`
}

function isRussian(host: string): boolean {
  const labels = host.split('.')
  return (
    RUSSIAN_DOMAINS.has(labels.at(-1) ?? '') && labels.every((label) => ONE_ALPHABET.test(label))
  )
}
