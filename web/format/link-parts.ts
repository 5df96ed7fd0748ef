/**
 * A part of a post's text: plain, or a link. Of a link, `text` is the address as it is shown, `title` the whole of it, and
 * neither can be mistaken for the address of something else.
 */
export type TextPart =
  | { kind: 'text'; text: string }
  | { kind: 'link'; text: string; title: string; href: string }

type LinkOptions = {
  /** How many characters of an address are shown; its host is never cut. */
  length?: number
  /** False leaves out addresses that two parsers of URLs could understand differently. */
  withUnusual?: boolean
}

const ADDRESS =
  /(?:(?<![\p{L}\p{N}_])https?:\/\/|(?<![\p{L}\p{N}_@./:\\-])www\.(?=[\p{L}\p{N}]))[^\s<>"«»“”„`]+/giu
const SCHEME = /^https?:/i
const PUNCTUATION_AT_END = /[.,:;!?…'’*_~|\\-]$/u
/** The scheme, with everything that a browser accepts as its slashes, and the host. */
const SCHEME_AND_HOST = /^https?:[/\\]+([^/\\?#]*)/i
/** A host of ASCII labels, none in punycode, and a domain; behind it nothing that parsers escape differently. */
const COMMON_ADDRESS =
  /^https?:\/\/(?:(?!xn--)[a-z0-9][a-z0-9-]*\.)+(?!xn--)[a-z]{2,}(?::\d+)?(?:[/?#][^\\^{|}']*)?$/i
/** A host that begins with www and would be one without it. */
const WWW = /^www\.(?=[^.]+\.[^.])/
const PORT = /:\d+$/
/** A label of a host in one alphabet. Cyrillic letters that are not Russian, such as ӏ and ѕ, imitate Latin ones. */
const ONE_ALPHABET = /^(?:[a-z0-9-]+|[а-яё0-9-]+)$/
const RUSSIAN_DOMAINS = new Set(['рф', 'рус', 'дети', 'москва', 'сайт', 'онлайн', 'орг', 'бел'])
const OPENING: Record<string, string> = { ')': '(', ']': '[', '}': '{' }

/** A part of a path, a query or a hash, in which letters of two alphabets are not mixed. */
const PIECE = /[^/?#&=.:]+/g
/** A Russian letter, percent-encoded. */
const RUSSIAN_LETTER = /%D0%(?:81|[9AB][\dA-F])|%D1%(?:8[\dA-F]|91)/gi
const PERCENT_ENCODED = /%[\dA-F]{2}/gi
const NOT_ASCII_ENCODED = /%[89A-F][\dA-F]/i
/** A Russian letter that looks like no Latin one. */
const UNMISTAKABLE = /[вджзийклмнптфцчшщъыьэюяБГДЖИЙЛПФЦЧШЩЪЫЭЮЯ]/

/**
 * Splits text into plain parts and links to http(s) addresses and to those that begin with www; everything else,
 * javascript: included, stays text.
 */
export function linkParts(text: string, options: LinkOptions = {}): TextPart[] {
  const { length = Number.POSITIVE_INFINITY, withUnusual = true } = options
  const parts: TextPart[] = []
  let from = 0
  for (const match of text.matchAll(ADDRESS)) {
    const written = trimEnd(match[0])
    const address = SCHEME.test(written) ? written : `https://${written}`
    const url = safeUrl(address)
    if (!url || !(withUnusual || COMMON_ADDRESS.test(address))) continue
    if (address !== written && !WWW.test(url.host)) continue
    if (match.index > from) parts.push({ kind: 'text', text: text.slice(from, match.index) })
    parts.push({ kind: 'link', ...shownAddress(address, url, length), href: url.href })
    from = match.index + written.length
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

/** An address in short and whole. It is made from the parsed one, so that what is shown is what is opened. */
function shownAddress(address: string, url: URL, length: number) {
  const host = shownHost(address, url.host)
  const rest = readable(url.href.slice(url.origin.length))
  const scheme = url.protocol === 'https:' ? '' : 'http://'
  const start = scheme + host.replace(WWW, '')
  return {
    text: cut(start + (rest === '/' ? '' : rest), Math.max(length, start.length + 1)),
    title: `${url.protocol}//${host}${rest}`,
  }
}

/**
 * The ASCII form of a host, since letters of another alphabet can imitate Latin ones. A Russian domain is left as written
 * if none of its labels mixes alphabets.
 */
function shownHost(address: string, host: string): string {
  const written = SCHEME_AND_HOST.exec(address)?.[1]?.toLowerCase() ?? ''
  return isRussian(written.replace(PORT, '')) ? written : host
}

/**
 * Decodes the Russian words of a path. A piece stays encoded if it has letters of other alphabets too, or none that a
 * Latin letter does not look like; so does everything that is no letter, such as spaces, slashes and invisible characters.
 */
function readable(path: string): string {
  return path.replace(PIECE, (piece) => {
    const decoded = piece.replace(RUSSIAN_LETTER, decodeURIComponent)
    const isPlain = !NOT_ASCII_ENCODED.test(decoded)
    const hasLatin = /[a-z]/i.test(decoded.replace(PERCENT_ENCODED, ''))
    return isPlain && !hasLatin && UNMISTAKABLE.test(decoded) ? decoded : piece
  })
}

/** Shortens text to `length` characters, the ellipsis included, and not in the middle of a percent-encoded byte. */
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

/** Not URL.parse(), which some of the supported browsers lack. */
function parseUrl(address: string): URL | undefined {
  try {
    return new URL(address)
  } catch {
    return undefined
  }
}
