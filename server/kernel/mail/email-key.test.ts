import { expect, test } from 'vitest'
import { emailKey } from './email-address.ts'

test.each([
  ['case', 'Olga@Example.ORG', 'olga@example.org'],
  ['Cyrillic case', 'ОЛЬГА@пример.рф', 'ольга@ПРИМЕР.рф'],
  ['Unicode composition', 'zoe\u0308@example.org', 'zo\u00eb@example.org'],
  ['KELVIN SIGN', '\u212aate@example.org', 'kate@example.org'],
  ['full width', 'olga@ｅxample.org', 'olga@example.org'],
  ['full width before the at-sign', 'ｏlga@example.org', 'olga@example.org'],
  ['the dot of the root', 'olga@EXAMPLE.org.', 'olga@example.org'],
  ['an ideographic full stop', 'olga@example。org', 'olga@example.org'],
  ['its form in the DNS', 'olga@пример.рф', 'olga@xn--e1afmkfd.xn--p1ai'],
])('addresses that differ only in %s have the same key', (_what, one, other) => {
  expect(emailKey(one)).toBe(emailKey(other))
})

test('addresses that differ in a tag, a dot or a letter of the domain have keys of their own', () => {
  const addresses = [
    'olga@example.org',
    'olga+1@example.org',
    'ol.ga@example.org',
    'olga@exаmple.org',
    'olga@example.org/a',
    'olga@é.org',
    'olga@é/b.org',
    'olga@é/c.org',
    'a@olga@example.org',
  ]
  expect(new Set(addresses.map(emailKey)).size).toBe(addresses.length)
})
