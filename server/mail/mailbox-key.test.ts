import { expect, test } from 'vitest'
import { mailboxOf } from './mailbox-key.ts'

test.each([
  ['olga+wall@example.org', 'olga@example.org'],
  ['OLGA+a+b@Example.org.', 'olga@example.org'],
  ['olga@ｅxample.org', 'olga@example.org'],
  ['olga+1@пример.рф', 'olga@xn--e1afmkfd.xn--p1ai'],
  ['o.l.ga+x@gmail.com', 'olga@googlemail.com'],
  ['olga-ivanova@yandex.ru', 'Olga.Ivanova+x@ya.ru'],
])('%s leads to the mailbox of %s', (one, other) => {
  expect(mailboxOf(one)).toBe(mailboxOf(other))
})

test('other people’s mailboxes are other mailboxes', () => {
  const addresses = [
    'olga@example.org',
    'ol.ga@example.org',
    'ol-ga@example.org',
    'olga@example.com',
    'olga@gmail.com',
    'olga@ya.ru',
    '+olga@example.org',
    '+petr@example.org',
  ]
  expect(new Set(addresses.map(mailboxOf)).size).toBe(addresses.length)
})
