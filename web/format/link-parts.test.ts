import fc from 'fast-check'
import { expect, test } from 'vitest'
import { linkParts } from './link-parts.ts'

const linksIn = (text: string, options?: Parameters<typeof linkParts>[1]) =>
  linkParts(text, options).flatMap((part) => (part.kind === 'link' ? [part] : []))
const links = (text: string) => linksIn(text).map((link) => link.text)
const shown = (address: string, length?: number) =>
  linksIn(address, length === undefined ? {} : { length })[0]?.text

test('a sentence is split around its addresses, of which one without a scheme leads to https', () => {
  const href = 'https://example.org/a?b=1#c'
  const address = 'www.example.com/%D0%B4%D0%BE%D0%BC'
  const title = 'https://www.example.com/дом'
  expect(linkParts(`Читайте ${href}, там всё, и ${address}`)).toEqual([
    { kind: 'text', text: 'Читайте ' },
    { kind: 'link', text: 'example.org/a?b=1#c', title: href, href },
    { kind: 'text', text: ', там всё, и ' },
    { kind: 'link', text: 'example.com/дом', title, href: `https://${address}` },
  ])
})

test.each([
  ['https://example.org', ['example.org']],
  ['https://ru.wikipedia.org/wiki/Стена_(значения)', ['ru.wikipedia.org/wiki/Стена_(значения)']],
  ['(https://ru.wikipedia.org/wiki/Стена_(а)).', ['ru.wikipedia.org/wiki/Стена_(а)']],
  ['«https://example.org»', ['example.org']],
  ['HTTP://EXAMPLE.ORG/A', ['example.org/A']],
  ['http://a.org http://b.org\nhttps://c.org', ['a.org', 'b.org', 'c.org']],
  ['https://пример.рф/путь', ['пример.рф/путь']],
  ['(WWW.Example.com/a)', ['example.com/a']],
  ['https://www.example.com/', ['example.com']],
  ['https://www.com и https://www.рф', ['www.com', 'www.рф']],
])('%s', (text, found) => {
  expect(links(text)).toEqual(found)
})

test('a name that means somebody is a part with their username, and other names are text', () => {
  const namedBy = (name: string) => (name === 'Olga_old' ? 'olga_v' : undefined)
  const text = '@Olga_old, https://a.org/@Olga_old и @nobody1'
  expect(linkParts(text, { namedBy })).toEqual([
    { kind: 'mention', text: '@Olga_old', username: 'olga_v' },
    { kind: 'text', text: ', ' },
    expect.objectContaining({ kind: 'link', href: 'https://a.org/@Olga_old' }),
    { kind: 'text', text: ' и @nobody1' },
  ])
  expect(linkParts('@Olga_old')).toEqual([{ kind: 'text', text: '@Olga_old' }])
})

test.each(['\u200b', '\u202c', '\u3164', '👍', '🇷🇺'])(
  'an address ends before the invisible character or emoji %j',
  (mark) => {
    const [link, rest] = linkParts(`https://example.org/a${mark}дальше`)
    expect(link).toMatchObject({ kind: 'link', href: 'https://example.org/a' })
    expect(rest).toEqual({ kind: 'text', text: `${mark}дальше` })
  },
)

test('an address that browsers may parse differently can be left as text', () => {
  const common = (text: string) => linksIn(text, { withUnusual: false }).length
  expect(common('https://example.org/путь?a=b и www.example.org')).toBe(2)
  expect(common('https://пример.рф https://xn--80ak6aa92e.com https://1.1.1.1')).toBe(0)
  expect(common("https://a.org/a^b https://a.org/a|b https://a.org/?'a")).toBe(0)
})

test('a host built to be slow to check is checked within 500 ms', () => {
  const times = [1, 2, 3].map(() => {
    const began = performance.now()
    linkParts(`https://${'1-.'.repeat(160)}рф-`)
    linkParts(`https://а.б${')'.repeat(480)}`)
    return performance.now() - began
  })
  // The machine may be busy with something else for a moment.
  expect(Math.min(...times)).toBeLessThan(500)
})

test.each([
  'javascript:alert(1)',
  'example.org',
  'https://',
  'xhttps://example.org',
  'www.example',
  'me@www.example.org',
  'www.bank.example@evil.example',
  'https://bank.example@evil.example/',
  'https://bank.example%2F@evil.example/',
])('%s stays text', (text) => {
  expect(linkParts(text)).toEqual([{ kind: 'text', text }])
})

test('plain parts are in the order of the text, and every link shows the http or https address that it leads to', () => {
  const piece = fc.constantFrom('https://', 'http://a.b', 'javascript:', ...' )(.ж@😀')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const text = pieces.join('')
      const parts = linkParts(text)
      let from = 0
      for (const part of parts) {
        if (part.kind === 'text') {
          expect(text.slice(from)).toContain(part.text)
          from = text.indexOf(part.text, from) + part.text.length
        } else if (part.kind === 'link') {
          expect(part.href).toMatch(/^https?:\/\//)
          expect(new URL(part.title).href).toBe(part.href)
        }
      }
      expect(parts.length > 0).toBe(text !== '')
    }),
  )
})

/** [host as written, host as shown] */
test.each([
  ['аррӏе.com', 'xn--80ak6aa92e.com'],
  ['сом.аррӏе.рф', 'xn--l1adi.xn--80ak6aa92e.xn--p1ai'],
  ['shop-магазин.рф', 'xn--shop--8veax1bk3br.xn--p1ai'],
  ['apple.com⁄login.evil.example', 'apple.xn--comlogin-g03d.evil.example'],
  ['2130706433', '127.0.0.1'],
  ['@evil.example', 'evil.example'],
  ['Ёлка-1.РФ', 'ёлка-1.рф'],
  ['xn--80ak6aa92e.com', 'xn--80ak6aa92e.com'],
])('%s is shown with the host that it leads to: %s', (written, host) => {
  expect(links(`https://${written}/x?y`)).toEqual([`${host}/x?y`])
})

/** [path as written, path as shown] */
test.each([
  ['wiki/%D0%A1%D1%82%D0%B5%D0%BD%D0%B0', 'wiki/Стена'],
  ['%d1%91%d0%bb%d0%ba%d0%b8_%d0%be_%d0%81%d0%bb%d0%ba%d0%b0%d1%85', 'ёлки_о_Ёлках'],
  ['дом%20у%2Fреки%00', 'дом%20у%2Fреки%00'],
  // A query leads to no other site.
  ['путь?а=б&%D0%BE=1', 'путь?а=б&о=1'],
  // Letters that a Latin word could consist of, and letters beside Latin ones
  ['аро', '%D0%B0%D1%80%D0%BE'],
  // Letters of other alphabets, marks, direction and invisible characters
  ['ïñ/中/שלום/ї', '%C3%AF%C3%B1/%E4%B8%AD/%D7%A9%D7%9C%D7%95%D7%9D/%D1%97'],
  ['дом\u0301', '%D0%B4%D0%BE%D0%BC%CC%81'],
  ['дом%E2%80%AEмод', '%D0%B4%D0%BE%D0%BC%E2%80%AE%D0%BC%D0%BE%D0%B4'],
  // Not UTF-8
  ['%D0/%EF%F0', '%D0/%EF%F0'],
])('the path %s is shown as %s', (written, path) => {
  expect(shown(`https://example.org/${written}`)).toBe(`example.org/${path}`)
})

test('a long address is cut, but neither its host nor a percent-encoded byte', () => {
  const path = 'https://example.org/0123456789'
  expect(shown(path, 22)).toBe('example.org/0123456789')
  expect(shown(path, 21)).toBe('example.org/01234567…')
  expect(linksIn(path, { length: 21 })[0]?.title).toBe(path)
  expect(shown('https://example.org/a%20b', 15)).toBe('example.org/a…')
  const host = `apple.com.${'login.'.repeat(10)}evil.example`
  expect(shown(`https://${host}/path`, 40)).toBe(`${host}…`)
})

test('only Russian letters are shown beside ASCII', () => {
  const character = fc.oneof(
    fc.constantFrom(...'дж/_-.?=1', '%2F', '%25', '%E2%80%AE', '\u202e', '\u200b', '\u0301', 'ї'),
    fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)),
  )
  fc.assert(
    fc.property(fc.array(character, { maxLength: 6 }), (path) => {
      const link = linksIn(`https://example.org/x${path.join('')}`)[0]
      expect(link?.text).toMatch(/^[\x21-\x7eа-яё]+$/i)
      expect(link?.title).toMatch(/^[\x21-\x7eа-яё]+$/i)
    }),
  )
})

test('no two addresses look alike', () => {
  const twins = fc.constantFrom('aа', 'oо', 'pр', 'Tт', 'HН', 'дд', 'Юю', '..', '//', '__')
  const letters = fc.array(fc.tuple(twins, fc.boolean(), fc.boolean()), { maxLength: 6 })
  const skeleton = (text = '') =>
    text.replace(/[аорН]/g, (letter) => 'aopH'['аорН'.indexOf(letter)] ?? letter)
  fc.assert(
    fc.property(letters, (all) => {
      const one = linksIn(`https://example.org/x/${all.map(([it, at]) => it[+at]).join('')}`)[0]
      const other = linksIn(`https://example.org/x/${all.map(([it, , at]) => it[+at]).join('')}`)[0]
      const looksAlike = skeleton(one?.text) === skeleton(other?.text)
      expect(looksAlike).toBe(one?.href === other?.href)
    }),
    { numRuns: 1000 },
  )
})
