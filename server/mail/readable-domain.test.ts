import { expect, test } from 'vitest'
import { hasReadableDomain, withUsualDomain } from './readable-domain.ts'

test.each([
  'olga@example.org',
  'ольга@почта.рф',
  'olga@xn--80a1acny.xn--p1ai',
  'olga@пример.com',
  'olga@сор.ru',
  'olga@faß.de',
  'olga@mail-2.пример.рф',
  'olga@日本ひらカナ.jp',
])('%s has a domain that can be read', (address) => {
  expect(hasReadableDomain(address)).toBe(true)
})

test.each([
  ['olga@exаmple.org', 'a Cyrillic letter among Latin ones'],
  ['olga@xn--exmple-4nf.org', 'the same as the DNS has it'],
  ['olga@yаndex.рф', 'Latin letters among Cyrillic ones'],
  ['olga@gοοgle.com', 'Greek letters among Latin ones'],
  ['olga@аррӏе.com', 'a Latin word in Cyrillic letters'],
  ['olga@xn--a.org', 'a label that cannot be converted'],
  ['olga@xn--.org', 'an empty one'],
  ['olga@é/b.org', 'a slash'],
  ['olga@exa%6dple.org', 'a percent sign'],
  ['olga@a..org', 'nothing between two dots'],
  [`olga@${'o'.repeat(64)}.org`, 'a label of 64 characters'],
])('%s does not: %s', (address) => {
  expect(hasReadableDomain(address)).toBe(false)
})

test('a domain that is not plain ASCII is taken in its usual form, everything else as it was typed', () => {
  expect(withUsualDomain('Olga@ｅxample.ORG')).toBe('Olga@example.org')
  expect(withUsualDomain('Olga@ПРИМЕР.рф')).toBe('Olga@пример.рф')
  expect(withUsualDomain('Olga@Example.org.')).toBe('Olga@example.org')
  expect(withUsualDomain('Olga+1@Example.ORG')).toBe('Olga+1@Example.ORG')
})
