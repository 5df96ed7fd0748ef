import { expect, test } from 'vitest'
import {
  emailKey,
  hasReadableDomain,
  mailboxOf,
  privateDomainOf,
  withUsualDomain,
} from './email-address.ts'

test.each([
  ['olga+wall@example.org', 'olga@example.org'],
  ['OLGA+a+b@Example.org.', 'olga@example.org'],
  ['olga+1@пример.рф', 'olga@xn--e1afmkfd.xn--p1ai'],
  ['o.l.ga+x@gmail.com', 'olga@googlemail.com'],
  ['olga-ivanova@yandex.ru', 'Olga.Ivanova+x@ya.ru'],
])('%s and %s are one mailbox', (one, other) => {
  expect(mailboxOf(one)).toBe(mailboxOf(other))
})

test('different people have different mailboxes', () => {
  const names = ['olga', 'ol.ga', 'ol-ga', '+olga', '+petr'].map((name) => `${name}@example.org`)
  const addresses = [...names, 'olga@example.com', 'olga@gmail.com', 'olga@ya.ru']
  expect(new Set(addresses.map(mailboxOf)).size).toBe(addresses.length)
})

test.each([
  ['olga@own.example', 'own.example'],
  ['olga@a.b.OWN.example.', 'own.example'],
  ['olga@пример.рф', 'xn--e1afmkfd.xn--p1ai'],
  ['olga@gmail.com', undefined],
  ['olga@ya.ru', undefined],
  ['olga@Mail.RU', undefined],
])('the private domain of %s is %s', (address, domain) => {
  expect(privateDomainOf(address)).toBe(domain)
})

test.each([
  'olga@example.org',
  'ольга@почта.рф',
  'olga@сор.ru',
  'olga@faß.de',
  'olga@日本ひらカナ.jp',
])('the domain of %s is readable', (address) => expect(hasReadableDomain(address)).toBe(true))

test.each([
  ['olga@exаmple.org', 'a Cyrillic letter among Latin ones'],
  ['olga@xn--exmple-4nf.org', 'the same as the DNS has it'],
  ['olga@yаndex.рф', 'Latin letters among Cyrillic ones'],
  ['olga@xn--a.org', 'a label that cannot be converted'],
  ['olga@exa%6dple.org', 'a percent sign'],
  ['olga@a..org', 'nothing between two dots'],
  [`olga@${'o'.repeat(64)}.org`, 'a label of 64 characters'],
])('the domain of %s is not readable: %s', (address) => {
  expect(hasReadableDomain(address)).toBe(false)
})

test('a domain that is not plain ASCII is put into its usual form, everything else stays as typed', () => {
  expect(withUsualDomain('Olga@ｅxample.ORG')).toBe('Olga@example.org')
  expect(withUsualDomain('Olga@ПРИМЕР.рф')).toBe('Olga@пример.рф')
  expect(withUsualDomain('Olga@Example.org.')).toBe('Olga@example.org')
  expect(withUsualDomain('Olga+1@Example.ORG')).toBe('Olga+1@Example.ORG')
})

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
