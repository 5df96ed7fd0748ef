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
])('%s stays text', (text) => {
  expect(linkParts(text)).toEqual([{ kind: 'text', text }])
})

test('nothing for no text', () => {
  expect(linkParts('')).toEqual([])
})

test('the parts always join to the text, and every link is http or https', () => {
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
      expect(parts.map((part) => part.text).join('')).toBe(text)
      for (const part of parts) if (part.kind === 'link') expect(part.href).toMatch(/^https?:\/\//)
    }),
  )
})
