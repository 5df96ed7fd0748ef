import fc from 'fast-check'
import { expect, test } from 'vitest'
import { linkParts } from './link-parts.ts'

const linksIn = (text: string, options?: Parameters<typeof linkParts>[1]) =>
  linkParts(text, options).flatMap((part) => (part.kind === 'link' ? [part] : []))
const links = (text: string) => linksIn(text).map((link) => link.text)

test('splits a sentence around its address', () => {
  expect(linkParts('Читайте https://example.org/a?b=1#c, там всё.')).toEqual([
    { kind: 'text', text: 'Читайте ' },
    {
      kind: 'link',
      text: 'example.org/a?b=1#c',
      title: 'https://example.org/a?b=1#c',
      href: 'https://example.org/a?b=1#c',
    },
    { kind: 'text', text: ', там всё.' },
  ])
})

test.each([
  ['https://example.org', ['example.org']],
  ['(https://example.org/a)', ['example.org/a']],
  ['https://ru.wikipedia.org/wiki/Стена_(значения)', ['ru.wikipedia.org/wiki/Стена_(значения)']],
  [
    'см. https://ru.wikipedia.org/wiki/Стена_(значения)).',
    ['ru.wikipedia.org/wiki/Стена_(значения)'],
  ],
  ['«https://example.org»', ['example.org']],
  ['https://example.org/?!…', ['example.org']],
  ['HTTP://EXAMPLE.ORG/A', ['example.org/A']],
  ['http://a.org http://b.org\nhttps://c.org', ['a.org', 'b.org', 'c.org']],
  ['https://пример.рф/путь', ['пример.рф/путь']],
  ['Заходите на www.example.com, ждём', ['example.com']],
  ['(WWW.Example.com/a)', ['example.com/a']],
  ['https://www.example.com/', ['example.com']],
  ['www.пример.рф', ['пример.рф']],
  ['https://www.com и https://www.рф', ['www.com', 'www.рф']],
])('%s', (text, found) => {
  expect(links(text)).toEqual(found)
})

test.each(['\u200b', '\u2060', '\u202c', '\ufeff', '\u00ad', '\ufe0f', '\u3164', '👍', '❤️', '🇷🇺'])(
  'an address ends before the invisible character or emoji %j',
  (mark) => {
    const [link, rest] = linkParts(`https://example.org/a${mark}дальше`)
    expect(link).toMatchObject({ kind: 'link', href: 'https://example.org/a' })
    expect(rest).toEqual({ kind: 'text', text: `${mark}дальше` })
  },
)

test('a link without a scheme leads to https, and the title of every link is its whole address', () => {
  expect(linksIn('www.example.com/%D0%B4%D0%BE%D0%BC')).toEqual([
    {
      kind: 'link',
      text: 'example.com/дом',
      title: 'https://www.example.com/дом',
      href: 'https://www.example.com/%D0%B4%D0%BE%D0%BC',
    },
  ])
})

test('where browsers may parse an address differently, it can be left as text', () => {
  const common = (text: string) => linksIn(text, { withUnusual: false }).length
  expect(common('https://example.org/путь?a=b и www.example.org')).toBe(2)
  expect(common('https://пример.рф https://xn--80ak6aa92e.com https://1.1.1.1')).toBe(0)
  expect(common("https://a.org/a^b https://a.org/a|b https://a.org/?'a")).toBe(0)
})

test('a host built to be slow to check is checked within 500 ms', () => {
  const began = performance.now()
  linkParts(`https://${'1-.'.repeat(160)}рф-`)
  linkParts(`https://а.б${')'.repeat(480)}`)
  expect(performance.now() - began).toBeLessThan(500)
})

test.each([
  'javascript:alert(1)',
  'JaVaScRiPt://example.org/%0aalert(1)',
  'data:text/html,<script>alert(1)</script>',
  'ftp://example.org',
  'example.org',
  'https://',
  'https://.',
  'xhttps://example.org',
  'www.example',
  'www.',
  'www...',
  'wwww.example.org',
  'me@www.example.org',
  'ftp://www.example.org',
  'a.www.example.org',
  'www.bank.example@evil.example',
  'https://bank.example@evil.example/',
  'https://bank.example:443@evil.example/',
  'https://bank.example%2F@evil.example/',
])('%s stays text', (text) => {
  expect(linkParts(text)).toEqual([{ kind: 'text', text }])
})

test('an empty text has no parts', () => {
  expect(linkParts('')).toEqual([])
})

test('plain parts are in the order of the text, and every link shows the http or https address that it leads to', () => {
  const piece = fc.constantFrom(
    'https://',
    'http://a.b',
    ' ',
    ')',
    '(',
    '.',
    'javascript:',
    'ж',
    '@',
    '😀',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const text = pieces.join('')
      const parts = linkParts(text)
      let from = 0
      for (const part of parts) {
        if (part.kind === 'text') {
          expect(text.slice(from)).toContain(part.text)
          from = text.indexOf(part.text, from) + part.text.length
        } else {
          expect(part.href).toMatch(/^https?:\/\//)
          expect(new URL(part.title).href).toBe(part.href)
        }
      }
      expect(parts.length > 0).toBe(text !== '')
    }),
  )
})
