import { expect, test } from 'vitest'
import { likelyDomain } from './likely-domain.ts'

test.each([
  ['gmial.com', 'gmail.com'],
  ['gmail.co', 'gmail.com'],
  ['gnail.cm', 'gmail.com'],
  ['yadnex.ru', 'yandex.ru'],
  ['mial.ru', 'mail.ru'],
  ['intrenet.ru', 'internet.ru'],
  ['yandex.con', 'yandex.com'],
])('for %s asks about %s', (typed, host) => {
  expect(likelyDomain(`anna@${typed}`)).toBe(host)
})

test.each([
  'gmail.com',
  'Mail.ru',
  'ya.ru',
  'ra.ru',
  'mail.com',
  'mai.ru',
  'yandex.com',
  'example.org',
  'пример.рф',
])('for %s asks nothing', (host) => {
  expect(likelyDomain(`anna@${host}`)).toBeUndefined()
})

test('only the host counts', () => {
  expect(likelyDomain('gmial.com@example.org')).toBeUndefined()
})
