/** A stretch of post text: plain, or an address that may be followed. `text` of all parts joins to the whole. */
export type TextPart = { kind: 'text'; text: string } | { kind: 'link'; text: string; href: string }

const ADDRESS = /(?<![\p{L}\p{N}_])https?:\/\/[^\s<>"«»“”„`]+/giu
const PUNCTUATION_AT_END = /[.,:;!?…'’*_~|\\-]$/u
const OPENING: Record<string, string> = { ')': '(', ']': '[', '}': '{' }

/** Splits text into plain stretches and http(s) addresses; everything else, javascript: included, stays text. */
export function linkParts(text: string): TextPart[] {
  const parts: TextPart[] = []
  let from = 0
  for (const match of text.matchAll(ADDRESS)) {
    const address = trimEnd(match[0])
    const href = safeHref(address)
    if (href === undefined) continue
    if (match.index > from) parts.push({ kind: 'text', text: text.slice(from, match.index) })
    parts.push({ kind: 'link', text: address, href })
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
function safeHref(address: string): string | undefined {
  const url = parseUrl(address)
  if (!url || url.username || url.password) return undefined
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : undefined
}

/** Not URL.parse(): browsers that the build is made for do not have it yet. */
function parseUrl(address: string): URL | undefined {
  try {
    return new URL(address)
  } catch {
    return undefined
  }
}
