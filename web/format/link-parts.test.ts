import fc from 'fast-check'
import { expect, test } from 'vitest'
import { linkParts } from './link-parts.ts'

const links = (text: string) =>
  linkParts(text).flatMap((part) => (part.kind === 'link' ? [part.text] : []))

test('splits a sentence around its address', () => {
  expect(linkParts('Читайте https://example.org/a?b=1#c, там всё.')).toEqual([
    { kind: 'text', text: 'Читайте ' },
    { kind: 'link', text: 'https://example.org/a?b=1#c', href: 'https://example.org/a?b=1#c' },
    { kind: 'text', text: ', там всё.' },
  ])
})

test.each([
  ['https://example.org', ['https://example.org']],
  ['(https://example.org/a)', ['https://example.org/a']],
  [
    'https://ru.wikipedia.org/wiki/Стена_(значения)',
    ['https://ru.wikipedia.org/wiki/Стена_(значения)'],
  ],
  [
    'см. https://ru.wikipedia.org/wiki/Стена_(значения)).',
    ['https://ru.wikipedia.org/wiki/Стена_(значения)'],
  ],
  ['«https://example.org»', ['https://example.org']],
  ['https://example.org/?!…', ['https://example.org/']],
  ['HTTP://EXAMPLE.ORG/A', ['HTTP://EXAMPLE.ORG/A']],
  ['http://a.org http://b.org\nhttp://c.org', ['http://a.org', 'http://b.org', 'http://c.org']],
  ['http://пример.рф/путь', ['http://пример.рф/путь']],
])('%s', (text, found) => {
  expect(links(text)).toEqual(found)
})

/** [as written, as shown] */
test.each([
  ['https://аррӏе.com/вход', 'https://xn--80ak6aa92e.com/вход'],
  ['https://сбербанк.com', 'https://xn--80abap1arsf.com'],
  ['https://gооgle.com', 'https://xn--ggle-55da.com'],
  ['https://сом.аррӏе.рф', 'https://xn--l1adi.xn--80ak6aa92e.xn--p1ai'],
  ['https://apple.сом', 'https://apple.xn--l1adi'],
  ['https://shop-магазин.рф', 'https://xn--shop--8veax1bk3br.xn--p1ai'],
  ['https://münchen.de/?a=ö', 'https://xn--mnchen-3ya.de/?a=ö'],
  ['https://apple.com⁄login.evil.example/', 'https://apple.xn--comlogin-g03d.evil.example/'],
  ['https://ⓐpple.com', 'https://apple.com'],
  ['https://ap\u00adple.com/x', 'https://apple.com/x'],
  ['http://2130706433/', 'http://127.0.0.1/'],
  ['https://@evil.example/', 'https://evil.example/'],
  ['http://пример.рф:8080/путь', 'http://пример.рф:8080/путь'],
  ['http://www.Ёлка-1.РФ', 'http://www.Ёлка-1.РФ'],
  ['https://музей.москва?а=б', 'https://музей.москва?а=б'],
  ['https://xn--80ak6aa92e.com', 'https://xn--80ak6aa92e.com'],
])('%s is shown with the host that it leads to: %s', (text, shown) => {
  expect(links(text)).toEqual([shown])
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
          expect(new URL(part.text).href).toBe(part.href)
        }
      }
      expect(parts.length > 0).toBe(text !== '')
    }),
  )
})
