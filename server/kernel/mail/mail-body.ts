import { domainToUnicode } from 'node:url'
import { isVisible } from '../../../contract/text.ts'
import { escapeHtml } from '../http/escape.ts'
import { type MailOptions, readableOrigin } from './mail-words.ts'
import type { Mail } from './smtp.ts'

/** A line of the wall's own text, a code, or a user's text. An empty line ends a paragraph. */
export type Line = string | { code: string; what: string } | { quote: string }

/**
 * Writes a mail as text and as HTML, in which only addresses of the wall are links. People read
 * «стена.рф»; only the target of a link is in the form of the DNS.
 */
export function writeMail(
  { to, subject }: Pick<Mail, 'to' | 'subject'>,
  lines: readonly Line[],
  { appName, origin }: MailOptions,
): Mail & { html: string } {
  const text = lines.map((line) => textOf(line, origin)).join('\n')
  return { to, subject: `${subject} · ${appName}`, text, html: htmlOf(lines, origin) }
}

function textOf(line: Line, origin: string): string {
  if (typeof line === 'string') {
    return line.replace(addressOf(origin), (address) => readable(address, origin))
  }
  if ('code' in line) return `${line.code} — ${line.what}.`
  return quotedLines(line.quote)
    .map((text) => `> ${text}`.trimEnd())
    .join('\n')
}

const LINE_BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g

/** Returns the lines of a user's text, with single blank lines and links cut to the host. */
function quotedLines(text: string): string[] {
  const lines = withHostsOnly(text.replace(DIRECTIONS, '').trim())
    .split(LINE_BREAK)
    .map((line) => (isVisible(line) ? line : ''))
  return lines.filter((line, at) => line !== '' || (at > 0 && lines[at - 1] !== ''))
}

export function toOneLine(text: string): string {
  return quotedLines(text).filter(Boolean).join(' ')
}

const LINK = /\b[a-z][a-z\d+.-]*:[\\/]{2,}[^\s<>"«»“”„]*/giu
const BARE_LINK =
  /(?<![\p{L}\p{M}\p{N}_-])((?:[\p{L}\p{M}\p{N}_-]+\.)+(?:xn--[a-z\d-]+|[\p{L}\p{M}]{2,}))\.?(?::\d+)?[/?#\\][^\s<>"«»“”„]*/giu

function withHostsOnly(text: string): string {
  return text
    .replace(LINK, (link) => hostAsWritten(link) || '…')
    .replace(BARE_LINK, (_, host: string) => host)
}

/** A host in letters stays in letters, and one in the form of the DNS stays in that. */
function hostAsWritten(link: string): string {
  const host = URL.parse(link)?.hostname ?? ''
  return /xn--/i.test(link) ? host : domainToUnicode(host)
}

const PARAGRAPH = 'margin:0 0 16px'
const CODE = 'font-size:32px;line-height:40px;letter-spacing:2px'
const QUOTE = 'margin:0 0 16px;padding-left:12px;border-left:2px solid #888'
const BODY =
  'max-width:560px;margin:24px;font:16px/24px system-ui,sans-serif;overflow-wrap:anywhere'

function htmlOf(lines: readonly Line[], origin: string): string {
  const blocks: string[] = []
  let own: string[] = []
  const endParagraph = () => {
    if (own.length > 0) blocks.push(`<p style="${PARAGRAPH}">${own.join('<br>')}</p>`)
    own = []
  }
  for (const line of lines) {
    if (line === '') endParagraph()
    else if (typeof line === 'string') own.push(linkify(line, origin))
    else if ('code' in line) {
      own.push(`<strong style="${CODE}">${line.code}</strong>`, escapeHtml(line.what))
    } else {
      endParagraph()
      const quote = quotedLines(line.quote).map(escapeHtml).join('<br>')
      blocks.push(`<blockquote style="${QUOTE}">${quote}</blockquote>`)
    }
  }
  endParagraph()
  return [
    '<!doctype html><html lang="ru"><head><meta charset="utf-8">',
    '<meta name="color-scheme" content="light dark"></head>',
    `<body style="${BODY}">`,
    ...blocks,
    '</body></html>',
  ].join('\n')
}

function linkify(line: string, origin: string): string {
  return line
    .split(addressOf(origin))
    .map((part, at) =>
      at % 2 === 0
        ? escapeHtml(part)
        : `<a href="${escapeHtml(part)}">${escapeHtml(readable(part, origin))}</a>`,
    )
    .join('')
}

/** Matches the addresses of the wall, and not those of hosts that only begin alike. */
function addressOf(origin: string): RegExp {
  return new RegExp(`(${RegExp.escape(origin)}(?![\\w.:-])[^\\s<>"]*)`, 'g')
}

function readable(address: string, origin: string): string {
  return readableOrigin(origin) + address.slice(origin.length)
}
